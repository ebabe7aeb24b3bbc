package blackbox.calls.read;

import blackbox.calls.json.Json;
import blackbox.calls.json.Shape;

/// How one API says things: what of its JSON is needed, and what that means.
interface Dialect {
    /// Characters of an id, a name or a word that are kept.
    int WORD_CHARS_MAX = 256;

    /// Characters of an error's message.
    int MESSAGE_CHARS_MAX = 2048;

    /// What is needed of a request.
    Shape request();

    /// An element of a list that [#request] has handed over.
    void requestElement(Json element, Draft draft);

    /// A request, and whether it is one of this API at all.
    boolean request(Json request, Draft draft);

    /// What is needed of a response that is no stream of events.
    Shape response();

    /// An element of a list that [#response] has handed over.
    void responseElement(Json element, long index, long end, Draft draft);

    /// A response that is no stream of events, or each line of one that is lines of JSON.
    void response(Json response, long end, Draft draft);

    /// Whether a response may be several values.
    default boolean isLines() {
        return false;
    }

    /// What is needed of an event.
    Shape event();

    /// An event of a stream.
    ///
    /// @param type as the stream says it beside the data; empty if it does not
    void event(String type, Json data, long end, Draft draft);

    /// The stream has ended with `[DONE]`.
    default void done(Draft draft) {}
}
