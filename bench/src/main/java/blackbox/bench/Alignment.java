package blackbox.bench;

import blackbox.bench.result.BenchResult;
import blackbox.bench.result.Goal;
import blackbox.bench.subject.Folders;
import blackbox.replay.ReplayException;
import blackbox.replay.divergence.AlignmentSettings;
import blackbox.replay.divergence.Divergences;
import blackbox.replay.divergence.LeftFiles;
import blackbox.replay.divergence.cause.RunInputs;
import blackbox.replay.divergence.cause.Side;
import blackbox.replay.divergence.strand.EventCursor;
import blackbox.replay.divergence.strand.EventSource;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.EventRows;
import blackbox.schemas.event.GuestOrigin;
import blackbox.schemas.event.Kind;
import blackbox.schemas.event.Marks;
import blackbox.schemas.event.ProcessRef;
import blackbox.schemas.event.Source;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.LeafCodec;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import java.io.BufferedWriter;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/// Events aligned per second: two runs of the same work by eight concurrent processes, with different process ids,
/// temporary names and interleavings, each event decoded from its leaf. A pair of events counts as one. Measured
/// beside it: decoding the leaves alone; and in the note, how long `diff` takes for the events as lines of text.
final class Alignment implements Benchmark {
    private static final int LANES = 8;
    private static final int STEPS = 60;
    private static final int JOBS = Scale.CURRENT.count(4_200, 20);
    /// Each job begins with a fork before its steps; the run's close comes last.
    private static final int EVENTS = LANES * JOBS * (STEPS + 1) + 1;
    private static final int ROUNDS = Scale.CURRENT.rounds(3);
    private static final double MIB = 1 << 20;
    private static final int MEMORY_MIB_MAX = 512;

    @Override
    public String name() {
        return "alignment";
    }

    @Override
    public List<BenchResult> run() throws Exception {
        System.gc();
        long without = used();
        Leaves recorded = Leaves.of(new Work(1));
        Leaves actual = Leaves.of(new Work(2));
        System.gc();
        long runs = used() - without;
        double best = 0;
        double decoding = 0;
        for (int round = 0; round < ROUNDS; round++) {
            best = Math.max(best, aligned(recorded, actual));
            decoding = Math.max(decoding, decoded(recorded, actual));
        }
        return List.of(
                BenchResult.of(name(), best, "events/s")
                        .withGoal(new Goal.AtLeast(1_000_000))
                        .beside("decoding the leaves of both sides alone", decoding)
                        .withNote(String.format(
                                Locale.ROOT,
                                "Of one core's time (CPU time of one thread), %,d events of each side, best of %d; `diff` of the"
                                        + " same events as text in the same order takes %.1f s.",
                                recorded.count,
                                ROUNDS,
                                diffSeconds(recorded, actual))),
                BenchResult.of("alignment-memory", peakOfItsOwn(runs) / MIB, "MiB")
                        .withGoal(new Goal.AtMost(MEMORY_MIB_MAX))
                        .beside("the two runs themselves", runs / MIB)
                        .withNote(
                                "Peak of the heap during the alignment, above what the two runs themselves take, in a JVM that"
                                        + " has the goal for it and no more; garbage that was not collected yet counts."));
    }

    /// The peak in a JVM of its own: one that has plenty collects garbage late, and the suite's has what others left
    /// it.
    ///
    /// @param runs octets of heap that the two runs take
    private static long peakOfItsOwn(long runs) throws IOException, InterruptedException {
        long heapMib = (long) (runs / MIB) + MEMORY_MIB_MAX;
        Process process = new ProcessBuilder(
                        System.getProperty("java.home") + "/bin/java",
                        "-XX:+UseSerialGC",
                        "-Xmx" + heapMib + "m",
                        "-Dblackbox.bench.scale=" + System.getProperty("blackbox.bench.scale", ""),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Alignment.class.getName())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        if (process.waitFor() != 0) {
            throw new IllegalStateException("the alignment did not end in a heap of " + heapMib + " MiB: " + said);
        }
        return Long.parseLong(said.strip());
    }

    /// Aligns once and prints the peak of the heap above what it was before.
    static void main(String[] arguments) throws IOException, ReplayException {
        Leaves recorded = Leaves.of(new Work(1));
        Leaves actual = Leaves.of(new Work(2));
        System.gc();
        long before = used();
        resetPeaks();
        aligned(recorded, actual);
        System.out.println(peak() - before);
    }

    private static double aligned(Leaves recorded, Leaves actual) throws IOException, ReplayException {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long start = threads.getCurrentThreadCpuTime();
        var alignment = Divergences.align(
                new Side("one", recorded, RunInputs.UNKNOWN),
                new Side("other", actual, RunInputs.UNKNOWN),
                LeftFiles.UNKNOWN,
                AlignmentSettings.of(start));
        long elapsed = threads.getCurrentThreadCpuTime() - start;
        if (!alignment.holds() || alignment.comparedEvents() != recorded.count) {
            throw new IllegalStateException("two runs of the same work are not found equal: " + alignment);
        }
        return recorded.count * 1e9 / elapsed;
    }

    private static double decoded(Leaves recorded, Leaves actual) throws IOException {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long start = threads.getCurrentThreadCpuTime();
        long seen = 0;
        for (Leaves each : List.of(recorded, actual)) {
            try (EventCursor cursor = each.open(0)) {
                while (cursor.next()) {
                    seen += cursor.row().number(Column.KIND);
                }
            }
        }
        if (seen == 0) {
            throw new IllegalStateException("no leaf was decoded");
        }
        return recorded.count * 1e9 / (threads.getCurrentThreadCpuTime() - start);
    }

    /// How long comparing lines takes: it finds differences at once, but does not say what they mean.
    private static double diffSeconds(Leaves recorded, Leaves actual) throws IOException, InterruptedException {
        Path folder = Files.createTempDirectory("blackbox-bench-");
        try {
            Path one = recorded.text(folder.resolve("one"));
            Path other = actual.text(folder.resolve("other"));
            long start = System.nanoTime();
            new ProcessBuilder("diff", "--speed-large-files", one.toString(), other.toString())
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start()
                    .waitFor();
            return (System.nanoTime() - start) / 1e9;
        } finally {
            Folders.delete(folder);
        }
    }

    private static long used() {
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    private static void resetPeaks() {
        ManagementFactory.getMemoryPoolMXBeans().forEach(MemoryPoolMXBean::resetPeakUsage);
    }

    private static long peak() {
        return ManagementFactory.getMemoryPoolMXBeans().stream()
                .filter(pool -> pool.getType() == MemoryType.HEAP)
                .mapToLong(pool -> pool.getPeakUsage().getUsed())
                .sum();
    }

    /// A run in memory, as leaves one after the other.
    private static final class Leaves implements EventSource {
        private static final int CHUNK_BYTES = 1 << 26;

        private final List<byte[]> chunks = new ArrayList<>();
        private final int[] chunk = new int[EVENTS];
        private final int[] offset = new int[EVENTS];
        private final int[] end = new int[EVENTS];
        private int count;
        private int at = CHUNK_BYTES;

        static Leaves of(Work work) {
            var leaves = new Leaves();
            var row = new Row();
            while (leaves.count < EVENTS - 1) {
                EventRows.fill(work.next(), row);
                leaves.add(row);
            }
            EventRows.fill(work.close(), row);
            leaves.add(row);
            return leaves;
        }

        private void add(Row row) {
            if (at + LeafCodec.BYTES_MAX > CHUNK_BYTES) {
                chunks.add(new byte[CHUNK_BYTES]);
                at = 0;
            }
            chunk[count] = chunks.size() - 1;
            offset[count] = at;
            at = LeafCodec.encode(row, chunks.getLast(), at);
            end[count++] = at;
        }

        @Override
        public EventCursor open(long from) {
            return new EventCursor() {
                private final Row row = new Row();
                private int index = (int) from - 1;

                @Override
                public boolean next() {
                    if (++index >= count) {
                        return false;
                    }
                    if (!LeafCodec.decode(chunks.get(chunk[index]), offset[index], end[index], row)) {
                        throw new IllegalStateException("leaf " + index + " cannot be decoded");
                    }
                    return true;
                }

                @Override
                public long index() {
                    return index;
                }

                @Override
                public Row row() {
                    return row;
                }

                @Override
                public void close() {}
            };
        }

        Path text(Path file) throws IOException {
            try (BufferedWriter out = Files.newBufferedWriter(file);
                    EventCursor cursor = open(0)) {
                while (cursor.next()) {
                    Row row = cursor.row();
                    out.write(Long.toString(row.number(Column.KIND)));
                    out.write(row.has(Column.PATH) ? " " + row.text(Column.PATH) : " -");
                    out.newLine();
                }
            }
            return file;
        }
    }

    /// Eight workers that run short compilers one after the other; the seed chooses process ids, names and
    /// interleavings, never what is done.
    private static final class Work {
        private static final long EXCLUSIVE = 0x80 | 0x40 | 0x2;
        private static final String CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

        private final Random random;
        private final List<Lane> lanes = new ArrayList<>();
        private int pid = 1_000;
        private long atNs = 1_795_000_000_000_000_000L;
        private long sequence;

        Work(long seed) {
            random = new Random(seed);
            pid += random.nextInt(1_000);
            for (int lane = 0; lane < LANES; lane++) {
                lanes.add(new Lane(lane));
            }
        }

        Event next() {
            lanes.removeIf(Lane::isDone);
            return lanes.get(random.nextInt(lanes.size())).next();
        }

        Event close() {
            return new Event.RunClose(EventHeader.host(atNs), EVENTS, 0, 0, null, null);
        }

        private EventHeader header(ProcessRef process) {
            atNs += 1_000 + random.nextInt(50_000);
            return new EventHeader(atNs, Source.GUEST, new GuestOrigin(0, ++sequence), process, Marks.NONE);
        }

        private final class Lane {
            private final Random work;
            private final int number;
            private int step = STEPS;
            private int job;
            private ProcessRef process = new ProcessRef(1, 1, 0, 1, Text.of("init"), 0);
            private Text temporary = Text.of("");

            Lane(int number) {
                this.number = number;
                this.work = new Random(number);
            }

            boolean isDone() {
                return job == JOBS && step == STEPS;
            }

            Event next() {
                if (step >= STEPS) {
                    return begin();
                }
                Text path = Text.of("/workspace/src/module" + number + "/part_" + work.nextInt(2_000) + ".h");
                return switch (step++) {
                    case 0 -> exec();
                    case 54 -> new Event.FileOpen(header(process), named(), EXCLUSIVE, 0600, true, 0);
                    case 55 -> new Event.FileIo(header(process), temporary, 0, 900, 0, 3, 0L, 900L, null);
                    case 56 -> change(Kind.FILE_RENAME, Text.of("/workspace/out/" + number + "-" + job + ".o"));
                    case 57 -> change(Kind.FILE_UNLINK, null);
                    case 58 -> new Event.FileClose(header(process), path, null);
                    case 59 -> new Event.ProcessExit(header(process), 0, null);
                    default ->
                        step % 2 == 0
                                ? new Event.FileOpen(header(process), path, 0, null, false, 0)
                                : new Event.FileIo(header(process), path, 4_096, 0, 1, 0, 0L, 4_096L, null);
                };
            }

            private Event begin() {
                step = 0;
                job++;
                pid += 1 + random.nextInt(2);
                process = new ProcessRef(pid, pid, 1, atNs - 1_794_000_000_000_000_000L, Text.of("cc1"), 1000);
                return new Event.ProcessFork(header(process), 1L);
            }

            private Event exec() {
                return new Event.ProcessExec(
                        header(process),
                        Text.of("/usr/libexec/cc1"),
                        List.of(Text.of("cc1"), Text.of("-O2"), Text.of("job" + number + "-" + job + ".c")),
                        List.of(Text.of("PATH"), Text.of("HOME")),
                        Text.of("/workspace"),
                        0);
            }

            private Event change(Kind kind, @Nullable Text to) {
                return new Event.FileChange(header(process), kind, temporary, to, null, null, null, null, 0);
            }

            private Text named() {
                // As mkstemps(3) does: six of 62 characters.
                var name = new StringBuilder("/tmp/cc");
                for (int i = 0; i < 6; i++) {
                    name.append(CHARACTERS.charAt(random.nextInt(CHARACTERS.length())));
                }
                temporary = Text.of(name.append(".s").toString());
                return temporary;
            }
        }
    }
}
