package blackbox.gateway.stack;

/// Decides about what a guest opens. Called on the loop.
public interface FlowHandler {

    /// The guest asks for a connection. It is answered when [OpeningConnection#accept] or [OpeningConnection#refuse] is
    /// called, which may be later, on the loop.
    void opening(OpeningConnection connection);

    /// The guest sent a datagram. True if it is a question that is answered by itself, so that it belongs to no flow.
    boolean asked(Question question);

    /// The guest sent the first datagram of a flow; it comes after [DatagramFlow#start], like all later ones.
    void opening(DatagramFlow flow);
}
