package blackbox.recorder.seal;

import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.GuestOrigin;
import blackbox.schemas.event.Marks;
import blackbox.schemas.row.Text;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// About how many octets of memory an event holds while it waits to be sealed. A guest decides how long texts
/// are and how many of them a list has: a queue that counts only events holds as much as the guest likes.
final class EventWeight {

    /// An event with its header, its process and its numbers.
    static final int EVENT_BYTES = 1 << 10;

    /// A text besides its octets: two objects, and its place in a list.
    private static final int TEXT_BYTES = 48;

    private EventWeight() {}

    static long of(Event event) {
        return EVENT_BYTES + header(event.header()) + fields(event);
    }

    private static long header(EventHeader header) {
        GuestOrigin origin = header.origin();
        Marks marks = header.marks();
        return (origin == null ? 0 : of(origin.seen()))
                + (long) TEXT_BYTES * (marks.truncated().size() + marks.unread().size());
    }

    private static long fields(Event event) {
        return switch (event) {
            case Event.ProcessExec e -> of(e.exe()) + of(e.argv()) + of(e.env()) + of(e.cwd());
            case Event.ProcessRunning e -> of(e.exe());
            case Event.ProcessSignal e -> of(e.detail());
            case Event.ProcessContainer e -> of(e.root()) + of(e.detail());
            case Event.FileOpen e -> of(e.path());
            case Event.FileClose e -> of(e.path());
            case Event.FileIo e -> of(e.path());
            case Event.FileChange e -> of(e.path()) + of(e.pathTo());
            case Event.FileXattr e -> of(e.path()) + of(e.name()) + of(e.detail());
            case Event.FileAllocate e -> of(e.path());
            case Event.FileMap e -> of(e.path());
            case Event.NetCall e -> of(e.path());
            case Event.NetSyn e -> of(e.exe());
            case Event.NetFlow e -> of(e.host());
            case Event.DnsQuery e -> of(e.name()) + of(e.answers());
            case Event.PrivilegeUse e -> of(e.path()) + of(e.detail());
            case Event.RecorderLoss e -> of(e.detail());
            case Event.RecorderHeartbeat e -> of(e.detail());
            case Event.TracerHeartbeat e -> of(e.detail());
            case Event.Detection e -> of(e.what()) + of(e.detail());
            case Event.TracerReady e -> of(e.detail());
            case Event.VmLifecycle e -> of(e.what()) + of(e.detail());
            case Event.AgentStart e -> of(e.detail());
            case Event.VmCapture e -> of(e.detail());
            case Event.NetMiss e -> of(e.detail());
            case Event.EgressDecision e -> of(e.host()) + of(e.detail());
            case Event.HttpExchange e -> of(e.host()) + of(e.detail());
            case Event.EgressSecret e -> of(e.host()) + of(e.detail());
            case Event.AgentCall e -> of(e.what()) + of(e.host()) + of(e.detail());
            case Event.Control e -> of(e.what()) + of(e.detail());
            case Event.Access e -> of(e.what()) + of(e.subject()) + of(e.detail());
            case Event.EgressPolicy e -> of(e.detail());
            case Event.RunOpen e -> of(e.name()) + of(e.detail());
            case Event.RunClose e -> of(e.detail());
            case Event.ProcessFork _,
                    Event.ProcessExit _,
                    Event.CredChange _,
                    Event.RecorderFinding _,
                    Event.AgentExit _ -> 0;
        };
    }

    private static long of(@Nullable Text text) {
        return text == null ? 0 : TEXT_BYTES + text.length();
    }

    private static long of(@Nullable String text) {
        return text == null ? 0 : TEXT_BYTES + 2L * text.length();
    }

    private static long of(@Nullable List<Text> texts) {
        long sum = 0;
        if (texts != null) {
            for (Text text : texts) {
                sum += of(text);
            }
        }
        return sum;
    }
}
