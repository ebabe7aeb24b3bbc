package blackbox.gateway.egress;

import java.util.List;

/// Receives what a gateway did, in order, on its loop. While it blocks, the guest's network waits, and nothing else: it
/// may thus hold back a guest that makes more than can be recorded. What it throws ends the gateway.
public interface GatewayListener {

    /// Something was allowed or denied; by the time this returns, nothing has been answered yet.
    void decided(Decision decision);

    /// An allowed flow is over. Each that was allowed ends exactly once.
    void ended(FlowEnd end);

    /// A request is about to be judged.
    ///
    /// @param fields of its head, as they were sent
    /// @return who is told of it from now on
    ExchangeTap asked(Flow flow, RequestHead head, List<HttpField> fields);

    /// A secret was put into a request, or was not, or came back. Told before the exchange is over.
    void secret(SecretUse use);

    /// TLS was opened to the guest. Not told of TLS that is passed as it is.
    ///
    /// @return who is told of what it says and hears
    PlaintextTap opened(Flow flow);

    /// Something strange was seen. Told at the first time, then whenever there are twice as many, and at the end: so
    /// a guest that does nothing else causes few calls.
    ///
    /// @param detail of this one
    /// @param count how many there are so far, this one included
    void found(Finding finding, String detail, long count);
}
