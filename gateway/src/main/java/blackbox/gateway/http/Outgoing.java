package blackbox.gateway.http;

import blackbox.gateway.secret.FilledHead;
import java.util.Set;

/// A request's head as it leaves.
///
/// @param head its target, and those of its fields that are passed on
/// @param readable whether the answer must be one that can be read: neither compressed nor a part
record Outgoing(GuestRequest request, FilledHead head, boolean readable) {
    /// What the gateway writes itself.
    private static final Set<String> REWRITTEN = Set.of("host", "expect", "accept-encoding");

    /// Those that let an answer be a part, or be compressed otherwise than by HTTP's own codings.
    private static final Set<String> UNREADABLE =
            Set.of("range", "if-range", "grpc-accept-encoding", "connect-accept-encoding");

    /// One without a secret, whose answer may have any form.
    static Outgoing plain(GuestRequest request, String target) {
        return new Outgoing(request, FilledHead.of(target, passedOn(request).all()), false);
    }

    /// The fields that are passed on.
    static Fields passedOn(GuestRequest request) {
        return request.fields().endToEnd(REWRITTEN);
    }

    /// Those that are written.
    Fields fields() {
        var fields = new Fields(head.fields());
        return readable ? fields.without(UNREADABLE) : fields;
    }
}
