package blackbox.evidence;

import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.MerkleFrontier;
import blackbox.evidence.log.NoteSigner;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.parquet.ForgedFooter;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.trust.EpochKey;
import blackbox.evidence.trust.RunKeyCertificate;
import blackbox.files.ProcessLock;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import blackbox.schemas.batch.BatchHeader;
import blackbox.schemas.batch.LeafCursor;
import blackbox.schemas.batch.SealedBatch;
import blackbox.schemas.batch.SpoolSegment;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.EventRows;
import blackbox.schemas.event.GuestOrigin;
import blackbox.schemas.event.Marks;
import blackbox.schemas.event.Source;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.LeafCodec;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import blackbox.schemas.table.DataFileName;
import blackbox.schemas.table.EventsTable;
import blackbox.schemas.table.FileSeal;
import blackbox.schemas.table.StoredNames;
import blackbox.schemas.table.TableColumn;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// A run for tests: sealed as a recorder seals, put on disk as ingest and the spool do. The Parquet comes
/// from DuckDB, a writer that shares no line with the reader under test.
public final class TestRun {

    /// 2026-11-21T00:00:00Z.
    public static final long START_NS = 1_795_219_200_000_000_000L;

    private static final ObjectMapper JSON = new ObjectMapper();

    public final RunId run;
    public final Path data;
    public final Ed25519Key key;
    private final MerkleFrontier tree = new MerkleFrontier();
    private final List<byte[]> pending = new ArrayList<>();
    public final List<SealedBatch> batches = new ArrayList<>();
    private final Row row = new Row();
    private long lost;
    private boolean closing;
    private @Nullable String certificate;
    private long clockNs = START_NS;

    /// The highest number of each guest CPU.
    private final SortedMap<Integer, Long> sequences = new TreeMap<>();

    /// The log of runs that certifies this one, or null for a run that `key` signs directly.
    public final @Nullable TestLog log;

    /// The keys of the epochs so far and of the next; a recorder destroys them.
    public final List<Ed25519Key> epochs = new ArrayList<>();

    public TestRun(Path data) throws IOException {
        this(data, new RunId("01kaj3v4e0" + "%016d".formatted(Integer.toUnsignedLong(data.hashCode()))), newKey());
    }

    public TestRun(Path data, RunId run, Ed25519Key key) throws IOException {
        this(data, run, key, null);
    }

    /// A run with epoch keys, certified in `log`, which has begun; ingest's key, which the log knows, seals its files.
    public static TestRun certified(Path data, TestLog log) throws IOException {
        return certified(data, log, new TestRun(data).run);
    }

    /// The same for a run with that id.
    public static TestRun certified(Path data, TestLog log, RunId run) throws IOException {
        return new TestRun(data, run, log.ingest, log);
    }

    private TestRun(Path data, RunId run, Ed25519Key key, @Nullable TestLog log) throws IOException {
        this.data = data;
        this.run = run;
        this.key = key;
        this.log = log;
        if (log != null) {
            epochs.add(newEpoch());
            certificate = certificate(log.key);
            return;
        }
        Files.createDirectories(data.resolve("keys"));
        Files.writeString(data.resolve("keys/recorder.pub"), key.verifier().encoded() + "\n");
    }

    /// Seals each batch with a key of its own, as recorders do; the first is certified by `longTerm`.
    public TestRun certified(NoteSigner longTerm) {
        epochs.add(newEpoch());
        certificate = certificate(longTerm);
        return this;
    }

    /// The run key certificate, where there is one.
    public @Nullable String certificate() {
        return certificate;
    }

    private Ed25519Key newEpoch() {
        return Ed25519Key.create(run.origin(), new SecureRandom());
    }

    public static Ed25519Key newKey() {
        return Ed25519Key.create("blackbox/recorder", new SecureRandom());
    }

    /// The time of the next event; each is a millisecond after the one before.
    public long tick() {
        return clockNs += 1_000_000;
    }

    public long add(Event event) {
        if (event instanceof Event.RecorderLoss loss) {
            lost += loss.lost();
        }
        GuestOrigin origin = event.header().origin();
        if (origin != null) {
            sequences.merge(origin.cpu(), origin.cpuSeq(), Math::max);
        }
        EventRows.fill(event, row);
        var leaf = new byte[LeafCodec.size(row)];
        LeafCodec.encode(row, leaf, 0);
        return addLeaf(leaf);
    }

    public long addLeaf(byte[] leaf) {
        var prefixed = new byte[leaf.length + 1];
        System.arraycopy(leaf, 0, prefixed, 1, leaf.length);
        tree.append(prefixed, 1, leaf.length);
        pending.add(leaf);
        return tree.size() - 1;
    }

    public TestRun open(String name) {
        return open(name, certificate);
    }

    /// The certificate of the first epoch's key, not yet in any log.
    public String certificate(NoteSigner signer) {
        Instant issued = Instant.ofEpochSecond(0, START_NS);
        return SignedNote.sign(new RunKeyCertificate(run, epochs.getFirst().verifier(), issued).text(), signer);
    }

    /// Opens the run with this certificate, which also goes into the log; with none where it is null.
    public TestRun open(String name, @Nullable String note) {
        return open(name, note, _ -> {});
    }

    /// The same, of a recorder that says more of itself.
    public TestRun open(String name, @Nullable String note, Consumer<ObjectNode> recorder) {
        ObjectNode detail = JSON.createObjectNode().put("tier", "live");
        detail.putObject("image").put("name", "base").put("digest", "ab".repeat(32));
        if (note != null) {
            recorder.accept(detail.putObject("recorder").put("certificate", note));
        }
        if (note != null && log != null) {
            log.add(note);
        }
        add(new Event.RunOpen(EventHeader.host(tick()), Text.of(name), detail.toString()));
        return this;
    }

    /// Puts the checkpoints of batches `[from, to)` into the log.
    public void logCheckpoints(int from, int to) {
        for (SealedBatch batch : batches.subList(from, to)) {
            Objects.requireNonNull(log).add(batch.checkpoint());
        }
    }

    /// Sets the clock: the next event is a millisecond later.
    public void at(long ns) {
        clockNs = ns;
    }

    /// Closes the pending batch with its heartbeat.
    public SealedBatch seal() {
        long now = tick();
        Hash previous = batches.isEmpty() ? Hash.ZERO : batches.getLast().hash();
        long first = tree.size() - pending.size();
        add(new Event.RecorderHeartbeat(
                EventHeader.host(now), batches.size(), previous, tree.size() + 1, lost, announced()));
        Ed25519Key signer = epochs.isEmpty() ? key : epochs.get(batches.size());
        String note = SignedNote.sign(new Checkpoint(run.origin(), tree.size(), tree.root()).text(), signer);
        var entries = new ByteArrayOutputStream();
        for (byte[] leaf : pending) {
            var entry = new byte[LeafCursor.ENTRY_OVERHEAD + leaf.length];
            System.arraycopy(leaf, 0, entry, LeafCursor.putEntryHeader(entry, 0, leaf.length), leaf.length);
            entries.writeBytes(entry);
        }
        byte[] octets = entries.toByteArray();
        var header = new BatchHeader(run, batches.size(), first, pending.size(), now, previous);
        SealedBatch batch = SealedBatch.encode(header, octets, octets.length, note);
        batches.add(batch);
        pending.clear();
        return batch;
    }

    private @Nullable String announced() {
        if (epochs.isEmpty() || closing) {
            return null;
        }
        if (epochs.size() == batches.size() + 1) {
            epochs.add(newEpoch());
        }
        return EpochKey.of(epochs.get(batches.size() + 1).verifier()).detail();
    }

    /// Closes the run as an ordinary one, with the tracer's last heartbeat.
    public void close(int exitCode) {
        heartbeat(true);
        closeUnfinished(exitCode);
    }

    /// A heartbeat of the tracer on each CPU of which there are events, or on the first.
    public void heartbeat(boolean last) {
        if (sequences.isEmpty()) {
            sequences.put(0, 0L);
        }
        List.copyOf(sequences.keySet()).forEach(cpu -> heartbeat(cpu, last));
    }

    /// The index of the next event.
    public long nextIndex() {
        return tree.size();
    }

    /// The number that comes next on that CPU.
    public long nextNumber(int cpu) {
        return sequences.getOrDefault(cpu, 0L) + 1;
    }

    /// A heartbeat of the tracer on that CPU, with its next number.
    public void heartbeat(int cpu, boolean last) {
        var origin = new GuestOrigin(cpu, nextNumber(cpu));
        var header = new EventHeader(tick(), Source.GUEST, origin, null, Marks.NONE);
        add(new Event.TracerHeartbeat(header, "{\"seq\":1,\"dropped\":{},\"final\":" + last + "}"));
    }

    /// Closes a run whose tracer did not say that it was done.
    public void closeUnfinished(int exitCode) {
        closing = true;
        add(new Event.RunClose(EventHeader.host(tick()), tree.size(), lost, exitCode, null, null));
        seal();
    }

    /// Takes the run's lock, as a live recorder does.
    public ProcessLock lock() throws IOException {
        Path folder = Files.createDirectories(data.resolve("runs").resolve(run.value()));
        return ProcessLock.take(folder.resolve("lock"));
    }

    public Path dataFolder() {
        return data.resolve("warehouse/blackbox/events/data/run=" + run);
    }

    public Path spoolFolder() {
        return data.resolve("spool").resolve(run.value());
    }

    /// Writes batches `[from, to)` as one spool segment.
    public Path spool(int from, int to) throws IOException {
        Files.createDirectories(spoolFolder());
        var out = new ByteArrayOutputStream();
        for (SealedBatch batch : batches.subList(from, to)) {
            out.writeBytes(SpoolSegment.recordHeader(batch.octets()).array());
            out.writeBytes(batch.octets());
        }
        return Files.write(spoolFolder().resolve("%012d.seg".formatted(from)), out.toByteArray());
    }

    /// Writes all batches as one sealed data file.
    public Path table() throws Exception {
        return table(0, batches.size(), "PARQUET_VERSION v2");
    }

    /// Writes batches `[from, to)` as one sealed data file.
    public Path table(int from, int to, String options) throws Exception {
        long first = batches.get(from).firstIndex();
        long end = batches.get(to - 1).endIndex();
        String token = HexFormat.of().toHexDigits(new Random(first * 31 + end).nextInt());
        var name = new DataFileName(first, end, token);
        Files.createDirectories(dataFolder());
        Path rows = dataFolder().resolve("rows.ndjson");
        Files.writeString(
                rows, batches.subList(from, to).stream().flatMap(TestRun::rows).collect(Collectors.joining("\n")));
        Path file = dataFolder().resolve(name.toString());
        String bloomFilter = options.contains("WRITE_BLOOM_FILTER") ? "" : "WRITE_BLOOM_FILTER false, ";
        try (var connection = java.sql.DriverManager.getConnection("jdbc:duckdb:");
                var statement = connection.createStatement()) {
            statement.execute("COPY (SELECT " + select() + " FROM read_json('" + rows
                    + "', format='newline_delimited', "
                    + "maximum_object_size=10000000, columns={" + jsonColumns() + "}) ORDER BY \"index\") TO '" + file
                    + "' (FORMAT parquet, COMPRESSION zstd, " + bloomFilter + notes(options) + options + ")");
        }
        Files.delete(rows);
        ForgedFooter.asIngestHasIt(file);
        sealFile(file, name, key);
        return file;
    }

    /// The names that were added since the table's first version, as ingest notes them; nothing while there
    /// are none.
    private static String notes(String options) {
        String notes = Stream.of(Column.KIND, Column.SOURCE)
                .filter(column -> !StoredNames.ofThisVersion(column).text().isEmpty())
                .map(column -> ", '" + StoredNames.key(column) + "': '"
                        + StoredNames.ofThisVersion(column).text() + "'")
                .collect(Collectors.joining("", "'" + EventsTable.LAYOUT_KEY + "': '" + EventsTable.LAYOUT + "'", ""));
        return options.contains("KV_METADATA") ? "" : "KV_METADATA {" + notes + "}, ";
    }

    /// Writes the seal of a data file.
    public void sealFile(Path file, DataFileName name, Ed25519Key signer) throws IOException {
        byte[] octets = Files.readAllBytes(file);
        var seal = new FileSeal(run, name, name.endIndex() - name.firstIndex(), octets.length, Hash.sha256(octets));
        Files.writeString(file.resolveSibling(name.sealName()), SignedNote.sign(seal.text(), signer));
    }

    private static String select() {
        return EventsTable.COLUMNS.stream()
                .map(column -> switch (column.type()) {
                    case BINARY -> "unhex(\"" + column.name() + "\") AS \"" + column.name() + "\"";
                    default -> "\"" + column.name() + "\"";
                })
                .collect(Collectors.joining(", "));
    }

    private static String jsonColumns() {
        return EventsTable.COLUMNS.stream()
                .map(column -> "'" + column.name() + "': '"
                        + switch (column.type()) {
                            case INT -> "INTEGER";
                            case LONG -> "BIGINT";
                            case STRING, BINARY -> "VARCHAR";
                            case STRING_LIST -> "VARCHAR[]";
                        }
                        + "'")
                .collect(Collectors.joining(", "));
    }

    private static Stream<String> rows(SealedBatch batch) {
        var lines = new ArrayList<String>();
        LeafCursor leaves = batch.leaves();
        for (long index = batch.firstIndex(); leaves.next(); index++) {
            ObjectNode node = JSON.createObjectNode();
            node.put("run", batch.run().value());
            node.put("index", index);
            var decoded = new Row();
            boolean known =
                    LeafCodec.decode(leaves.array(), leaves.offset(), leaves.offset() + leaves.length(), decoded);
            boolean faithful = known;
            for (TableColumn column : EventsTable.COLUMNS) {
                Column source = column.source();
                if (known && source != null && decoded.has(source)) {
                    faithful &= put(node, source, decoded);
                }
            }
            if (!faithful) {
                int from = leaves.offset();
                node.put("raw", HexFormat.of().formatHex(leaves.array(), from, from + leaves.length()));
            }
            if (index == batch.endIndex() - 1) {
                node.put("checkpoint", batch.checkpoint());
            }
            lines.add(node.toString());
        }
        return lines.stream();
    }

    /// Returns whether the column says the value exactly.
    private static boolean put(ObjectNode node, Column column, Row row) {
        String name = column.columnName();
        if (EventsTable.storedByName(column)) {
            node.put(name, EventsTable.nameOf(column, row.number(column)));
            return EventsTable.nameOf(column, row.number(column)) != null;
        }
        return switch (column.type()) {
            case INT, LONG -> {
                node.put(name, row.number(column));
                yield true;
            }
            case BYTES -> {
                node.put(name, HexFormat.of().formatHex(row.text(column).toBytes()));
                yield true;
            }
            case STRING -> {
                node.put(name, row.text(column).toString());
                yield row.text(column).isUtf8();
            }
            case STRING_LIST -> {
                var list = node.putArray(name);
                row.list(column).forEach(element -> list.add(element.toString()));
                yield row.list(column).stream().allMatch(Text::isUtf8);
            }
        };
    }
}
