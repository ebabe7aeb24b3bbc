package blackbox.gateway.egress;

/// The transports that a guest is served.
public enum Protocol {
    TCP,
    UDP
}
