package blackbox.gateway.egress;

import java.util.Set;

/// The head of an HTTP request, as far as it can be judged.
///
/// @param method as it was sent
/// @param authority the value of Host or `:authority`, as it was sent
/// @param target in origin form, or `*`, as it was sent
/// @param mediaTypes what Accept and Content-Type name, without parameters
/// @param webSocket whether it asks for a WebSocket
public record RequestHead(String method, String authority, String target, Set<String> mediaTypes, boolean webSocket) {

    public RequestHead {
        mediaTypes = Set.copyOf(mediaTypes);
    }
}
