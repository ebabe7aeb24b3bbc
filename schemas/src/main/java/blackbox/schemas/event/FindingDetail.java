package blackbox.schemas.event;

import org.jspecify.annotations.Nullable;

/// A finding with what is known about it: one record for each [Finding]. [FindingJson] writes and reads them;
/// nobody else knows the names of their fields in JSON.
public sealed interface FindingDetail {

    Finding finding();

    /// @param sinceNs when the tracer last sent something, nanoseconds since 1970 on the host's clock
    record GuestSilent(long sinceNs) implements FindingDetail {
        @Override
        public Finding finding() {
            return Finding.GUEST_SILENT;
        }
    }

    /// @param sinceNs when it sent something again, nanoseconds since 1970 on the host's clock
    record GuestBack(long sinceNs) implements FindingDetail {
        @Override
        public Finding finding() {
            return Finding.GUEST_BACK;
        }
    }

    /// @param heardNs when the tracer's last heartbeat arrived, nanoseconds since 1970 on the host's clock; 0
    ///     if none did
    record TracerUnfinished(long heardNs) implements FindingDetail {
        @Override
        public Finding finding() {
            return Finding.TRACER_UNFINISHED;
        }
    }

    /// Whether the other tracer sent everything is said by whether [TracerUnfinished] follows.
    ///
    /// @param status the tracer's exit code, or minus the signal that ended it
    /// @param frozenAfterNs how long after its end was noticed the kernel said that no process of the agent runs;
    ///     -1 if it did not say so in time
    record TracerEnded(long status, long frozenAfterNs) implements FindingDetail {
        @Override
        public Finding finding() {
            return Finding.TRACER_ENDED;
        }
    }

    /// @param reason the name of what went wrong, in words of the recorder's platform
    record GuestStreamBroken(String reason) implements FindingDetail {
        @Override
        public Finding finding() {
            return Finding.GUEST_STREAM_BROKEN;
        }
    }

    /// @param octetsSkipped how many octets of the stream were no frame so far
    record MalformedFrame(long octetsSkipped) implements FindingDetail {
        @Override
        public Finding finding() {
            return Finding.MALFORMED_FRAME;
        }
    }

    /// @param type the frame's, as in its header
    record UnknownFrame(long type) implements FindingDetail {
        @Override
        public Finding finding() {
            return Finding.UNKNOWN_FRAME;
        }
    }

    /// @param cpu the CPU that numbered the frame
    /// @param seq the number
    record SequenceRepeated(long cpu, long seq) implements FindingDetail {
        @Override
        public Finding finding() {
            return Finding.SEQUENCE_REPEATED;
        }
    }

    /// @param cpu the CPU that numbered the frame
    /// @param seq the number
    record SequenceImpossible(long cpu, long seq) implements FindingDetail {
        @Override
        public Finding finding() {
            return Finding.SEQUENCE_IMPOSSIBLE;
        }
    }

    /// All that is known is in the event's other columns.
    record DnsUnreadable() implements FindingDetail {
        @Override
        public Finding finding() {
            return Finding.DNS_UNREADABLE;
        }
    }

    /// All that is known is in the event's other columns.
    record CredUnreadable() implements FindingDetail {
        @Override
        public Finding finding() {
            return Finding.CRED_UNREADABLE;
        }
    }

    /// @param where the captured file, or the thread that read it
    record FramesUnreadable(String where) implements FindingDetail {
        @Override
        public Finding finding() {
            return Finding.FRAMES_UNREADABLE;
        }
    }

    /// @param where the captured file
    record CaptureFailed(String where) implements FindingDetail {
        @Override
        public Finding finding() {
            return Finding.CAPTURE_FAILED;
        }
    }

    /// @param byNs by how much, nanoseconds
    record ClockSetBack(long byNs) implements FindingDetail {
        @Override
        public Finding finding() {
            return Finding.CLOCK_SET_BACK;
        }
    }

    /// @param limit `memory`, `pids` or `disk`
    /// @param count how many processes were ended because of it, or could not be started; of `disk` how many of
    ///     the agent's events say that there was no room
    record LimitReached(String limit, long count) implements FindingDetail {
        @Override
        public Finding finding() {
            return Finding.LIMIT_REACHED;
        }
    }

    /// @param what the gateway's name for it, such as `SOURCE_FORGED`
    /// @param count how many there have been so far; told when it has doubled, and at the end
    record EgressNoticed(String what, long count) implements FindingDetail {
        @Override
        public Finding finding() {
            return Finding.EGRESS_NOTICED;
        }
    }

    /// What the guest's kernel and the host saw of one flow does not fit together. `finding` is one of
    /// [Finding#FLOW_WITHOUT_CONNECT], [Finding#CONNECT_WITHOUT_FLOW], [Finding#NAME_NOT_ASKED],
    /// [Finding#SNI_NOT_ADDRESS] and [Finding#SOURCE_FORGED].
    ///
    /// @param local the guest's end, `10.0.2.15:40000`; without a port for protocols that have none
    /// @param remote the other end, likewise
    /// @param host the name that the other end's address stands for; null if it stands for none
    /// @param said the name that a TLS client gave; null of all else
    /// @param guestEvent index of the event that the guest told of it; null if there is none
    /// @param hostEvent likewise for the host
    /// @param unknown why what is missing may only have been lost, such as `LOSS_DECLARED`; null if it was not
    /// @param count how many there have been of this finding so far; the first thousand are told, then it is told
    ///     when it has doubled
    record SidesDiffer(
            Finding finding,
            String protocol,
            String local,
            String remote,
            @Nullable String host,
            @Nullable String said,
            @Nullable Long guestEvent,
            @Nullable Long hostEvent,
            @Nullable String unknown,
            long count)
            implements FindingDetail {}
}
