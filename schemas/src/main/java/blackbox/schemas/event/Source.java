package blackbox.schemas.event;

/// Who saw an event: the tracer in the guest, which a hostile guest may have subverted, or the host outside
/// it.
public enum Source {
    GUEST(1, "guest"),
    HOST(2, "host");

    private final int code;
    private final String sourceName;

    Source(int code, String sourceName) {
        this.code = code;
        this.sourceName = sourceName;
    }

    /// The code in the leaf.
    public int code() {
        return code;
    }

    /// The name in the table.
    public String sourceName() {
        return sourceName;
    }
}
