package blackbox.bench;

import blackbox.bench.result.BenchResult;
import blackbox.bench.result.Goal;
import blackbox.bench.subject.Folders;
import blackbox.bench.subject.ResidentMemory;
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
import java.io.BufferedOutputStream;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/// Events aligned per second: two runs of the same work by eight concurrent processes, with different process
/// ids, temporary names and interleavings, each event decoded from its leaf, which is read from a file. A
/// pair of events counts as one. Measured beside it: decoding the leaves alone; and in the note, how long
/// `diff` takes for some of the events as lines of text.
final class Alignment implements Benchmark {
    private static final int LANES = 8;
    private static final int STEPS = 60;
    private static final int JOBS = Scale.CURRENT.count(20_500, 20);
    /// Each job begins with a fork before its steps; the run's close comes last.
    private static final int EVENTS = LANES * JOBS * (STEPS + 1) + 1;

    /// `diff` takes ever longer for more, and many times as long for all of them.
    private static final int EVENTS_AS_TEXT = 2_000_000;

    private static final int ROUNDS = Scale.CURRENT.rounds(3);
    private static final double MIB = 1 << 20;
    private static final int MEMORY_MIB_MAX = 512;

    /// What the JVM takes beside it, its code and stacks, counts too.
    private static final int HEAP_MIB = 400;

    private static final String RECORDED = "recorded";
    private static final String ACTUAL = "actual";
    private static final String ALIGN = "align";
    private static final String DECODE = "decode";

    @Override
    public String name() {
        return "alignment";
    }

    @Override
    public List<BenchResult> run() throws Exception {
        Path folder = Files.createTempDirectory("blackbox-bench-");
        try {
            return measure(folder);
        } finally {
            Folders.delete(folder);
        }
    }

    private List<BenchResult> measure(Path folder) throws Exception {
        Leaves recorded = Leaves.write(folder.resolve(RECORDED), new Work(1));
        Leaves actual = Leaves.write(folder.resolve(ACTUAL), new Work(2));
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
                                        + " first %,d as text in the same order takes %.1f s.",
                                EVENTS,
                                ROUNDS,
                                Math.min(EVENTS, EVENTS_AS_TEXT),
                                diffSeconds(folder, recorded, actual))),
                BenchResult.of("alignment-memory", peakBytes(folder, ALIGN) / MIB, "MiB")
                        .withGoal(new Goal.AtMost(MEMORY_MIB_MAX))
                        .beside("decoding the leaves of both sides alone", peakBytes(folder, DECODE) / MIB)
                        .withNote(String.format(
                                Locale.ROOT,
                                "Peak resident memory of a JVM that aligns these runs with a heap of at most %d MiB.",
                                HEAP_MIB)));
    }

    /// The peak resident memory of a JVM of its own, as the kernel counted it.
    private static long peakBytes(Path folder, String what) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(
                        System.getProperty("java.home") + "/bin/java",
                        "-XX:+UseSerialGC",
                        "-Xmx" + HEAP_MIB + "m",
                        "-Dblackbox.bench.scale=" + System.getProperty("blackbox.bench.scale", ""),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Alignment.class.getName(),
                        what,
                        folder.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        if (process.waitFor() != 0) {
            throw new IllegalStateException(what + " did not end in a heap of " + HEAP_MIB + " MiB: " + said);
        }
        return Long.parseLong(said.strip());
    }

    /// `align FOLDER` or `decode FOLDER`: does so once and prints this process's peak resident memory, in
    /// octets.
    static void main(String[] arguments) throws IOException, ReplayException {
        Path folder = Path.of(arguments[1]);
        Leaves recorded = Leaves.open(folder.resolve(RECORDED));
        Leaves actual = Leaves.open(folder.resolve(ACTUAL));
        double unused = arguments[0].equals(ALIGN) ? aligned(recorded, actual) : decoded(recorded, actual);
        System.out.println(ResidentMemory.peakBytes(Path.of("/proc/self/status")));
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
    private static double diffSeconds(Path folder, Leaves recorded, Leaves actual)
            throws IOException, InterruptedException {
        Path one = recorded.text(folder.resolve("one"));
        Path other = actual.text(folder.resolve("other"));
        long start = System.nanoTime();
        new ProcessBuilder("diff", "--speed-large-files", one.toString(), other.toString())
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor();
        return (System.nanoTime() - start) / 1e9;
    }

    /// A run in a file: leaves one after the other, each after its length in two octets.
    private static final class Leaves implements EventSource {
        private static final int LENGTH_BYTES = Short.BYTES;
        private static final int BUFFER_BYTES = 1 << 18;

        /// Of how many leaves one's place is known.
        private static final int STRIDE = 1 << 12;

        private final Path file;
        private final List<Long> places = new ArrayList<>();
        private int count;

        private Leaves(Path file) {
            this.file = file;
        }

        static Leaves write(Path file, Work work) throws IOException {
            var row = new Row();
            var leaf = new byte[LENGTH_BYTES + LeafCodec.BYTES_MAX];
            try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(file), BUFFER_BYTES)) {
                for (int i = 0; i < EVENTS; i++) {
                    EventRows.fill(i < EVENTS - 1 ? work.next() : work.close(), row);
                    int end = LeafCodec.encode(row, leaf, LENGTH_BYTES);
                    ByteBuffer.wrap(leaf).putShort((short) (end - LENGTH_BYTES));
                    out.write(leaf, 0, end);
                }
            }
            return open(file);
        }

        static Leaves open(Path file) throws IOException {
            var leaves = new Leaves(file);
            try (var cursor = new Cursor(file, 0, 0)) {
                while (cursor.advance()) {
                    if (leaves.count++ % STRIDE == 0) {
                        leaves.places.add(cursor.place);
                    }
                }
            }
            return leaves;
        }

        @Override
        public EventCursor open(long from) throws IOException {
            int known = (int) Math.min(from / STRIDE, places.size() - 1L);
            var cursor = new Cursor(file, places.get(known), (long) known * STRIDE);
            while (cursor.index < from - 1 && cursor.advance()) {
                // to the one before
            }
            return cursor;
        }

        /// Owned by one thread.
        private static final class Cursor implements EventCursor {
            private final Row row = new Row();
            private final byte[] octets = new byte[BUFFER_BYTES];
            private final InputStream in;
            private int from;
            private int to;

            /// Where the leaf after this one begins in the file.
            private long following;

            private long place;
            private int offset;
            private long index;

            Cursor(Path file, long place, long index) throws IOException {
                var channel = FileChannel.open(file).position(place);
                this.in = Channels.newInputStream(channel);
                this.following = place;
                this.index = index - 1;
            }

            /// Goes to the next leaf without decoding it.
            boolean advance() throws IOException {
                if (!has(LENGTH_BYTES)) {
                    return false;
                }
                int length = (octets[from] & 0xff) << 8 | octets[from + 1] & 0xff;
                if (!has(LENGTH_BYTES + length)) {
                    throw new IOException("a leaf is cut");
                }
                offset = from + LENGTH_BYTES;
                from = offset + length;
                place = following;
                following += LENGTH_BYTES + length;
                index++;
                return true;
            }

            private boolean has(int bytes) throws IOException {
                if (to - from < bytes) {
                    System.arraycopy(octets, from, octets, 0, to - from);
                    to -= from;
                    from = 0;
                    to += in.readNBytes(octets, to, octets.length - to);
                }
                return to - from >= bytes;
            }

            @Override
            public boolean next() throws IOException {
                if (!advance()) {
                    return false;
                }
                if (!LeafCodec.decode(octets, offset, from, row)) {
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
            public void close() throws IOException {
                in.close();
            }
        }

        /// Writes the first [#EVENTS_AS_TEXT] as lines.
        Path text(Path target) throws IOException {
            try (BufferedWriter out = Files.newBufferedWriter(target);
                    EventCursor cursor = open(0)) {
                while (cursor.index() < EVENTS_AS_TEXT - 1 && cursor.next()) {
                    Row row = cursor.row();
                    out.write(Long.toString(row.number(Column.KIND)));
                    out.write(row.has(Column.PATH) ? " " + row.text(Column.PATH) : " -");
                    out.newLine();
                }
            }
            return target;
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
