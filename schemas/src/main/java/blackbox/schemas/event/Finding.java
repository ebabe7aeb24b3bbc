package blackbox.schemas.event;

import org.jspecify.annotations.Nullable;

/// What a recorder can notice that limits what can be believed. The names are stored; none is ever used for something
/// else.
public enum Finding {
    /// Detail: `sinceNs`, when the tracer was last heard.
    GUEST_SILENT("the guest's tracer has gone quiet", true),
    /// Detail: `sinceNs`, when it was heard again.
    GUEST_BACK("the guest's tracer is heard again", true),
    /// Detail: `heardNs`, when the tracer was last heard.
    TRACER_UNFINISHED("the guest's tracer did not say that all was sent", true),
    /// Detail: `reason`.
    GUEST_STREAM_BROKEN("the stream of the guest's tracer broke", true),
    /// Detail: `octetsSkipped`.
    MALFORMED_FRAME("the guest's tracer sent what is no frame", true),
    /// Detail: `type`.
    UNKNOWN_FRAME("the guest's tracer sent a frame of a kind that the recorder does not know", true),
    /// Detail: `cpu`, `seq`.
    SEQUENCE_REPEATED("a frame had a number that another had before", true),
    /// Detail: `cpu`, `seq`.
    SEQUENCE_IMPOSSIBLE("a frame had a number that cannot be", true),
    /// A DNS message of the guest's that nobody could read.
    DNS_UNREADABLE("a DNS message could not be read", false),
    /// A change of credentials whose values could not be read.
    CRED_UNREADABLE("a change of credentials could not be read", true),
    /// Detail: `where`, the captured file.
    FRAMES_UNREADABLE("captured network frames could not be read", true),
    /// Detail: `where`, the captured file.
    CAPTURE_FAILED("a file could not be captured further", true),
    /// Detail: `byNs`.
    CLOCK_SET_BACK("the host's clock was set back", false);

    private final String words;
    private final boolean missing;

    Finding(String words, boolean missing) {
        this.words = words;
        this.missing = missing;
    }

    /// What it means, as a clause for people.
    public String words() {
        return words;
    }

    /// Whether events may be missing because of it.
    public boolean meansMissing() {
        return missing;
    }

    /// The finding with that name, or null where this version knows none.
    public static @Nullable Finding ofName(String name) {
        for (Finding finding : values()) {
            if (finding.name().equals(name)) {
                return finding;
            }
        }
        return null;
    }
}
