package blackbox.calls.read;

import blackbox.calls.Call;
import blackbox.calls.Headers;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// How the calls of an exchange are read from what its two bodies say.
interface Reading {
    BodyReader.Sink request();

    BodyReader.Sink response();

    Notes notes();

    /// The head of the response.
    void head(int status, Headers headers);

    /// The model that the request asks for, when its body has ended; null if it is no call of a model, or names none.
    default @Nullable String requestModel() {
        return null;
    }

    /// The calls, when both bodies have ended.
    ///
    /// @param status 0 if there was no response
    /// @param octets of the response's body, decoded
    List<Call> calls(int status, long octets);

    /// A media type without its parameters, in lower case; null if there is none.
    static @Nullable String mediaType(@Nullable String contentType) {
        if (contentType == null) {
            return null;
        }
        int end = contentType.indexOf(';');
        String type = (end < 0 ? contentType : contentType.substring(0, end)).strip();
        return type.isEmpty() ? null : type.toLowerCase(Locale.ROOT);
    }
}
