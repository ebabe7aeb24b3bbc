package blackbox.gateway.egress;

import java.nio.ByteBuffer;
import java.util.List;

/// Is told of one exchange, as the guest has it: what it sent and what it is sent. Called on the gateway's loop, in
/// order; what it throws ends the gateway. A buffer is its own until it returns.
@FunctionalInterface
public interface ExchangeTap {

    /// A piece of the request's body, without its transfer coding, that is being forwarded.
    default void sent(ByteBuffer body) {}

    /// The head of the answer, the gateway's own included. At most once; interim answers are not told.
    ///
    /// @param fields as the other side sent them; none of an answer of the gateway's own
    default void answered(int status, List<HttpField> fields) {}

    /// A piece of the answer's body, without its transfer coding. Of answers of the gateway's own there is none.
    default void answered(ByteBuffer body) {}

    /// Nothing more comes. Called exactly once.
    void over(HttpExchange exchange);
}
