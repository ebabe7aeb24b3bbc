package blackbox.gateway.egress;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The head of an HTTP request, as far as it can be judged.
///
/// @param method as it was sent
/// @param authority the value of Host or `:authority`, as it was sent
/// @param target in origin form, or `*`, as it was sent
/// @param mediaTypes what Accept and Content-Type name, without parameters
/// @param webSocket whether it asks for a WebSocket
/// @param contentType the value of Content-Type; null if there is none
/// @param contentCoding the value of Content-Encoding; null if there is none
public record RequestHead(
        String method,
        String authority,
        String target,
        Set<String> mediaTypes,
        boolean webSocket,
        @Nullable String contentType,
        @Nullable String contentCoding) {

    /// One that says nothing of its body.
    public RequestHead(String method, String authority, String target, Set<String> mediaTypes, boolean webSocket) {
        this(method, authority, target, mediaTypes, webSocket, null, null);
    }

    public RequestHead {
        mediaTypes = Set.copyOf(mediaTypes);
    }
}
