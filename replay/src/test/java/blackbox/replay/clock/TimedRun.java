package blackbox.replay.clock;

import blackbox.replay.divergence.RecordedEvents;
import blackbox.replay.divergence.strand.EventSource;
import blackbox.schemas.event.Actor;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.GuestOrigin;
import blackbox.schemas.event.Marks;
import blackbox.schemas.event.ProcessRef;
import blackbox.schemas.event.Source;
import blackbox.schemas.row.Text;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/// One side of a shell's run: it forks a program every ten deeds, which opens files. The deeds are the same in each;
/// when
/// they are done, and the processes' numbers, are not.
final class TimedRun {
    static final long THOUSANDTH = 1_000_000;
    static final long START_NS = 1_790_000_000_000_000_000L;

    private static final int SHELL = 3;

    final List<Event> events = new ArrayList<>();
    private final int pidStep;
    private int pid;
    private long seq;

    TimedRun(int pidStep) {
        this.pidStep = pidStep;
        this.pid = SHELL * pidStep;
    }

    /// When each of `count` deeds is done, after pauses of up to 4 ms.
    static long[] times(int count) {
        var random = new Random(1);
        var times = new long[count];
        long at = START_NS;
        for (int i = 0; i < count; i++) {
            at += random.nextLong(4 * THOUSANDTH);
            times[i] = at;
        }
        return times;
    }

    static TimedRun recorded(long[] times) {
        var run = new TimedRun(1);
        for (int i = 0; i < times.length; i++) {
            run.deed(i, times[i]);
        }
        return run;
    }

    /// The `number`-th deed of the run.
    Event deed(int number, long atNs) {
        if (number % 10 == 0) {
            pid += pidStep;
            var shell = new ProcessRef(pid, pid, SHELL * pidStep, pid * 1_000L, Text.of("sh"), 1000);
            return add(new Event.ProcessFork(header(shell, atNs), (long) SHELL * pidStep * 1_000L));
        }
        int of = number % 10 < 3 ? SHELL * pidStep : pid;
        var process = new ProcessRef(of, of, 1, of * 1_000L, Text.of("sh"), 1000);
        return add(new Event.FileOpen(header(process, atNs), Text.of("/f" + number % 7), 0, 0644, false, 3));
    }

    /// Something that the other side has not done.
    Event other(long atNs) {
        var process = new ProcessRef(pid, pid, 1, pid * 1_000L, Text.of("sh"), 1000);
        return add(new Event.FileOpen(header(process, atNs), Text.of("/other" + seq), 0, 0644, false, 3));
    }

    private Event add(Event event) {
        events.add(event);
        return event;
    }

    private EventHeader header(ProcessRef process, long atNs) {
        return new EventHeader(atNs, Source.GUEST, new GuestOrigin(0, ++seq, Actor.AGENT), process, Marks.NONE);
    }

    EventSource source() {
        return RecordedEvents.source(events);
    }
}
