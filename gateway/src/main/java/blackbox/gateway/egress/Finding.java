package blackbox.gateway.egress;

/// What an honest guest does not do, or what had to be limited.
public enum Finding {
    /// A packet whose Ethernet or IP address is not the guest's.
    SOURCE_FORGED,
    /// A packet in parts. They are refused: their ports could differ from what was decided on.
    FRAGMENT_REFUSED,
    /// IPv6 other than a host's usual questions to its neighbours. There is no IPv6 here.
    IPV6_REFUSED,
    /// A protocol that is neither TCP, UDP nor ICMP, or an ICMP message to anyone but the gateway.
    PROTOCOL_REFUSED,
    /// A frame that contradicts itself or is cut off.
    MALFORMED,
    /// A question about names that no resolver asks.
    MALFORMED_DNS,
    /// QUIC, or DNS over TLS or QUIC: they would be opaque, or name what was not allowed.
    OPAQUE_REFUSED,
    /// More connections half open than are kept: the oldest were dropped.
    HALF_OPEN_DROPPED,
    /// More connections open than are kept: new ones were refused.
    CONNECTIONS_REFUSED,
    /// More exchanges of datagrams than are kept: the oldest were ended.
    DATAGRAM_FLOWS_DROPPED,
    /// More names than addresses are given to.
    NAMES_REFUSED,
    /// Questions that came faster than they could be decided.
    QUESTIONS_DROPPED,
    /// An allowed name had an address that the host does not dial.
    ADDRESS_REFUSED,
    /// What begins like TLS and is no ClientHello that could be trusted: the connection was reset.
    MALFORMED_TLS,
    /// What begins like HTTP and is none, or could be read in two ways: the request was refused. Also what HTTP/2 does
    /// not allow, and more of it than a guest may ask for at once: the stream or the connection was ended.
    MALFORMED_HTTP,
    /// Something else than HTTP, or nothing, where only requests are allowed: the connection was reset.
    NOT_HTTP,
    /// A TLS client broke off when it saw the gateway's certificate.
    GUEST_DOES_NOT_TRUST,
    /// The certificate of the other side did not verify.
    UPSTREAM_CERTIFICATE,
    /// The other side did not complete a TLS handshake for another reason.
    UPSTREAM_TLS,
    /// What stands for a secret was in a request that the secret does not go with: the request was refused.
    SECRET_ELSEWHERE,
    /// An answer had a secret's value in it, which was taken out.
    SECRET_REFLECTED
}
