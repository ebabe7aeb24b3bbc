package blackbox.bench.subject;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/// How much memory a way takes for each stream that is open: by how much the resident memory of its processes, which
/// have started a moment ago, grows while so many connections are kept with a request each half second.
public final class OpenStreams {
    private static final int WARMING = 4;
    private static final long LOOK_EVERY_MS = 100;

    private OpenStreams() {}

    /// KiB for each.
    ///
    /// @param folder for the load generator's script
    /// @param connections kept at once
    /// @param time how long; before, connections are opened and closed for half of that
    public static double kibEach(Way way, Path folder, int connections, Duration time)
            throws IOException, InterruptedException {
        var wrk = new Wrk(folder, way.place());
        wrk.awaitAnswer(way.base() + "/small");
        var unused = wrk.connecting(way.base() + "/small", WARMING, time.dividedBy(2));
        long before = way.meter().now().residentBytes();
        var most = new AtomicLong(before);
        Thread looking = Thread.ofPlatform().daemon().start(() -> look(way, most));
        try {
            unused = wrk.idling(way.base() + "/small", connections, time);
        } finally {
            looking.interrupt();
            looking.join();
        }
        return (most.get() - before) / 1024.0 / connections;
    }

    private static void look(Way way, AtomicLong most) {
        try {
            for (; ; ) {
                long resident = way.meter().now().residentBytes();
                most.accumulateAndGet(resident, Math::max);
                Thread.sleep(LOOK_EVERY_MS);
            }
        } catch (InterruptedException | IOException _) {
            return; // the load is over
        }
    }
}
