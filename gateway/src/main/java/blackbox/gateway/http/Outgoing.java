package blackbox.gateway.http;

import blackbox.gateway.secret.FilledHead;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A request's head as it leaves.
///
/// @param head its target, and those of its fields that are passed on
/// @param readable whether the answer must be one that can be read: neither compressed nor a part
/// @param webSocketKey that it has in place of the guest's; null if it has none
record Outgoing(
        GuestRequest request,
        FilledHead head,
        boolean readable,
        @Nullable String webSocketKey) {
    /// What the gateway writes itself.
    private static final Set<String> REWRITTEN = Set.of("host", "expect", "accept-encoding");

    /// Those that let an answer be a part, or be compressed otherwise than by HTTP's own codings.
    private static final Set<String> UNREADABLE =
            Set.of("range", "if-range", "grpc-accept-encoding", "connect-accept-encoding");

    /// One without a secret, whose answer may have any form.
    static Outgoing plain(GuestRequest request, String target) {
        return new Outgoing(request, FilledHead.of(target, passedOn(request).all()), false, null);
    }

    /// The fields that are passed on.
    static Fields passedOn(GuestRequest request) {
        return request.fields().endToEnd(REWRITTEN);
    }

    /// Those that are written.
    Fields fields() {
        var fields = new Fields(head.fields());
        String key = webSocketKey;
        Fields kept = readable ? fields.without(UNREADABLE) : fields;
        return key == null ? kept : kept.with(WebSocketKeys.KEY, key);
    }
}
