package blackbox.gateway.stack;

/// How a guest hears that a flow does not come about. A connection is always reset. Of one that is not allowed that is
/// all: Linux takes an ICMP message only if it comes while nobody holds the socket, so that what an agent reads would
/// depend on time.
public enum Refusal {
    /// Nobody listens there: `ECONNREFUSED`.
    REFUSED(3 << 8 | 3),
    /// It is not allowed: `ECONNREFUSED`; of datagrams `EHOSTUNREACH` (RFC 1812 section 5.2.7.1, code 13).
    PROHIBITED(3 << 8 | 13),
    /// It is allowed, but was not reached: `EHOSTUNREACH`.
    UNREACHABLE(3 << 8 | 1);

    final int typeAndCode;

    Refusal(int typeAndCode) {
        this.typeAndCode = typeAndCode;
    }
}
