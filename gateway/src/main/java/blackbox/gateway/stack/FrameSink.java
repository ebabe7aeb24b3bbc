package blackbox.gateway.stack;

/// Takes frames for the guest.
interface FrameSink {

    /// Sends the first `length` octets of an array, which stays the caller's.
    void send(byte[] frame, int length);

    /// Whether the machine takes frames. If not, only what answers a frame is to be sent, for none are read either.
    boolean isReady();

    /// Has what was sent leave, at the latest before the loop waits.
    void flush();
}
