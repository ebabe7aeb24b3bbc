package blackbox.ingest;

import blackbox.evidence.sign.Ed25519Key;
import blackbox.recorder.RecorderException;
import blackbox.recorder.seal.RunSealer;
import blackbox.schemas.RunId;
import blackbox.schemas.batch.SealedBatch;
import blackbox.schemas.event.Kind;
import blackbox.schemas.event.Source;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/// Makes the sealed batches of one run from a seed, by the recorder's own sealer.
public final class Traffic {

    public static final Ed25519Key KEY = Ed25519Key.create("recorder.test", new SecureRandom());

    private final RandomGenerator random;
    private final List<SealedBatch> sealed = new ArrayList<>();
    private final RunSealer sealer;
    private final RunId run;
    private final Row row = new Row();
    private long atNs = 1_790_000_000_000_000_000L;

    public Traffic(RandomGenerator random) {
        this(random, KEY);
    }

    public Traffic(RandomGenerator random, Ed25519Key key) {
        this.random = random;
        this.run = RunId.create(Instant.ofEpochSecond(1_790_000_000), random);
        this.sealer = new RunSealer(run, key, sealed::add, () -> Instant.ofEpochSecond(0, atNs));
    }

    public RunId run() {
        return run;
    }

    /// The batches so far.
    public List<SealedBatch> batches() {
        return sealed;
    }

    /// Seals a batch of `events` seeded events and its heartbeat.
    public SealedBatch batch(int events) throws RecorderException {
        for (int i = 0; i < events; i++) {
            sealer.append(nextEvent());
        }
        return sealer.seal();
    }

    /// Seals a batch of this one row and its heartbeat.
    public SealedBatch batch(Row one) throws RecorderException {
        sealer.append(one);
        return sealer.seal();
    }

    /// Seals a batch that closes the run.
    public SealedBatch close() throws RecorderException {
        atNs += 1_000;
        row.clear();
        sealer.append(row.set(Column.KIND, Kind.RUN_CLOSE.code())
                .set(Column.AT_NS, atNs)
                .set(Column.SOURCE, Source.HOST.code())
                .set(Column.EVENTS, sealer.size()));
        return sealer.seal();
    }

    private Row nextEvent() {
        atNs += random.nextLong(50_000);
        row.clear();
        int pid = 100 + random.nextInt(40);
        row.set(Column.AT_NS, atNs)
                .set(Column.SOURCE, Source.GUEST.code())
                .set(Column.CPU, 0)
                .set(Column.CPU_SEQ, sealer.size() + 1)
                .set(Column.PID, pid)
                .set(Column.PPID, 1)
                .set(Column.START_NS, pid * 7_919L)
                .set(Column.COMM, "cc1");
        switch (random.nextInt(4)) {
            case 0 ->
                row.set(Column.KIND, Kind.FILE_OPEN.code())
                        .set(Column.PATH, "/usr/include/linux/header-" + random.nextInt(300) + ".h")
                        .set(Column.RET, random.nextInt(3, 40))
                        .set(Column.FLAGS, 0x8000L);
            case 1 ->
                row.set(Column.KIND, Kind.FILE_IO.code())
                        .set(Column.PATH, "/workspace/build/" + random.nextInt(1000) + ".o")
                        .set(Column.BYTES_READ, random.nextInt(1 << 16))
                        .set(Column.BYTES_WRITTEN, random.nextInt(1 << 12))
                        .set(Column.READS, random.nextInt(9))
                        .set(Column.WRITES, random.nextInt(9));
            case 2 ->
                row.set(Column.KIND, Kind.PROCESS_EXEC.code())
                        .set(Column.EXE, "/usr/bin/cc")
                        .set(
                                Column.ARGV,
                                List.of(Text.of("cc"), Text.of("-c"), Text.of("f" + random.nextInt(500) + ".c")))
                        .set(Column.ENV, List.of())
                        .set(Column.CWD, "/workspace");
            default ->
                row.set(Column.KIND, Kind.NET_CONNECT.code())
                        .set(Column.PROTOCOL, "tcp")
                        .set(Column.REMOTE_IP, "10.0.2." + random.nextInt(255))
                        .set(Column.REMOTE_PORT, 443)
                        .set(Column.RET, -115);
        }
        return row;
    }

    /// A row with a value in every column, some of them not UTF-8 where `valid` is false.
    public static Row full(RandomGenerator random, Row row, TextKind texts) {
        row.clear();
        for (Column column : Column.values()) {
            switch (column.type()) {
                case INT ->
                    row.set(
                            column,
                            column == Column.KIND
                                    ? Kind.FILE_OPEN.code()
                                    : column == Column.SOURCE ? 1 : random.nextInt());
                case LONG -> row.set(column, random.nextLong() >> random.nextInt(64));
                case STRING -> row.set(column, text(random, texts));
                case BYTES -> {
                    var octets = new byte[random.nextInt(64)];
                    random.nextBytes(octets);
                    row.set(column, octets, 0, octets.length);
                }
                case STRING_LIST -> {
                    var list = new ArrayList<Text>();
                    for (int i = random.nextInt(5); i > 0; i--) {
                        list.add(text(random, texts));
                    }
                    row.set(column, list);
                }
            }
        }
        return row;
    }

    /// Which texts a generated row has.
    public enum TextKind {
        UTF8,
        ANY_OCTETS
    }

    private static Text text(RandomGenerator random, TextKind kind) {
        if (kind == TextKind.UTF8) {
            String[] samples = {
                "", "plain", "zwei\nZeilen", "Ünïcödé", "\ud83d\ude80 rocket", "nul\u0000inside", "\uffff"
            };
            return Text.of(samples[random.nextInt(samples.length)]);
        }
        var octets = new byte[random.nextInt(20)];
        random.nextBytes(octets);
        return Text.copyOf(octets, 0, octets.length);
    }
}
