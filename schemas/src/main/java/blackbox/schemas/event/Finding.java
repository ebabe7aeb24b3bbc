package blackbox.schemas.event;

import org.jspecify.annotations.Nullable;

/// What a recorder can notice that limits how far a recording can be relied on. The names are stored, and
/// their meanings never change. [FindingDetail] is what is known about each.
public enum Finding {
    GUEST_SILENT("the guest's tracer has gone quiet", true),
    GUEST_BACK("the guest's tracer sends again after a silence", true),
    TRACER_UNFINISHED("the guest's tracer did not confirm that it had sent everything", true),
    TRACER_ENDED(
            "the guest's tracer ended before its time: the agent was stopped at once and ended, another one read on",
            false),
    GUEST_STREAM_BROKEN("the stream of the guest's tracer broke", true),
    MALFORMED_FRAME("the guest's tracer sent octets that are not a frame", true),
    UNKNOWN_FRAME("the guest's tracer sent a frame of a kind that the recorder does not know", true),
    SEQUENCE_REPEATED("a frame repeated an earlier frame's sequence number", true),
    SEQUENCE_IMPOSSIBLE("a frame had an impossible sequence number", true),
    /// A DNS message of the guest that could not be parsed.
    DNS_UNREADABLE("a DNS message could not be read", false),
    /// A change of credentials whose values could not be read.
    CRED_UNREADABLE("a change of credentials could not be read", true),
    FRAMES_UNREADABLE("captured network frames could not be read", true),
    CAPTURE_FAILED("the capture of a file stopped early", true),
    CLOCK_SET_BACK("the host's clock was set back", false),
    LIMIT_REACHED(
            "the agent ran into a limit: processes were ended or could not be started, or its disk was full", false),
    EGRESS_NOTICED("the egress gateway saw in the guest's traffic what it does not serve, or had to limit it", false),
    /// Of these five, [FindingDetail.SidesDiffer] says which flow it was.
    FLOW_WITHOUT_CONNECT(
            "something left the guest that no process was seen to begin: a raw socket, or a tracer that did not see it",
            false),
    CONNECT_WITHOUT_FLOW("a process began a connection of which nothing left the guest", false),
    NAME_NOT_ASKED("the guest went to an address that stands for a name for which no process was seen to ask", false),
    SNI_NOT_ADDRESS("a TLS client named another server than the one whose address it went to", false),
    SOURCE_FORGED("a packet left the guest with an address that is not the guest's", false);

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

    /// Whether it means that events may be missing.
    public boolean meansMissing() {
        return missing;
    }

    /// Whether more may be missing after it than the guest's numbers and the declared losses tell. Of a
    /// silence this holds until the tracer's next heartbeats. A capture that stopped is none: what it would
    /// hold was seen, only not kept.
    public boolean leavesUnknown() {
        return missing && this != GUEST_BACK && this != CAPTURE_FAILED;
    }

    /// The finding with that name, or null if this version knows none.
    public static @Nullable Finding ofName(String name) {
        for (Finding finding : values()) {
            if (finding.name().equals(name)) {
                return finding;
            }
        }
        return null;
    }
}
