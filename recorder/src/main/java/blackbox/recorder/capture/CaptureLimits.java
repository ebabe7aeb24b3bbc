package blackbox.recorder.capture;

/// How much a recording stores beside its events, in octets.
///
/// @param diskLogBytesMax of what is written to the VM's disk
/// @param framesBytesMax of network frames and of the workspace that goes in; 0 keeps neither
/// @param outputBytesMax of what the agent prints, on each of its two streams; 0 keeps none
public record CaptureLimits(long diskLogBytesMax, long framesBytesMax, long outputBytesMax) {

    /// The defaults.
    public static final CaptureLimits DEFAULT = new CaptureLimits(4L << 30, 1L << 30, 64L << 20);

    public CaptureLimits {
        if (diskLogBytesMax <= 0) {
            throw new IllegalArgumentException("a log of " + diskLogBytesMax + " octets");
        }
        if (framesBytesMax < 0) {
            throw new IllegalArgumentException("network frames of " + framesBytesMax + " octets");
        }
        if (outputBytesMax < 0) {
            throw new IllegalArgumentException("output of " + outputBytesMax + " octets");
        }
    }

    /// The part for frames that the guest sends. Most of a run's traffic is what it receives.
    public long framesOutBytesMax() {
        return framesBytesMax / 4;
    }

    /// How much of what went over TLS that the gateway opened, without TLS.
    public long plaintextBytesMax() {
        return framesBytesMax;
    }

    /// The part for frames that it receives.
    public long framesInBytesMax() {
        return framesBytesMax - framesOutBytesMax();
    }
}
