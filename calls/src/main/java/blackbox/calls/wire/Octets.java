package blackbox.calls.wire;

/// Takes octets, which are valid only during the call.
@FunctionalInterface
public interface Octets {
    void take(byte[] octets, int from, int to);
}
