package blackbox.gateway.egress;

/// How far into an allowed connection the gateway looks; a later one looks further.
public enum Inspection {
    /// Its octets are relayed as they are. Of TLS only the ClientHello is read, so that its server name is judged.
    SEALED,
    /// TLS is opened, and each HTTP request is judged. What is neither is relayed.
    OPEN,
    /// The same, but a connection on which anything else than HTTP is spoken, or that is silent, is ended.
    REQUESTS;

    /// The one of both that looks further.
    public Inspection and(Inspection other) {
        return compareTo(other) >= 0 ? this : other;
    }
}
