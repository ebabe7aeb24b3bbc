package blackbox.recorder.capture;

/// How much a recording keeps beside its events, in octets.
///
/// @param diskLogBytesMax of what is written to the VM's disk
/// @param framesBytesMax of network frames and of the workspace that goes in; 0 keeps neither
public record CaptureLimits(long diskLogBytesMax, long framesBytesMax) {

    /// What is kept when nobody says otherwise.
    public static final CaptureLimits DEFAULT = new CaptureLimits(4L << 30, 1L << 30);

    public CaptureLimits {
        if (diskLogBytesMax <= 0) {
            throw new IllegalArgumentException("a log of " + diskLogBytesMax + " octets");
        }
        if (framesBytesMax < 0) {
            throw new IllegalArgumentException("network frames of " + framesBytesMax + " octets");
        }
    }

    /// Of the frames that the guest sends. What it is sent is most of a run's traffic.
    public long framesOutBytesMax() {
        return framesBytesMax / 4;
    }

    /// Of the frames that it is sent.
    public long framesInBytesMax() {
        return framesBytesMax - framesOutBytesMax();
    }
}
