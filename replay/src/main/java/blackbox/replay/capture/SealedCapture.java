package blackbox.replay.capture;

import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.RunReader;
import blackbox.query.run.RunFacts;
import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import blackbox.schemas.Sha256;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import blackbox.vault.VaultException;
import blackbox.vm.BoundedInput;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// One file that is stored beside a run's events, as far as these events seal it: its segments, without a gap
/// from its first octet on. What the file holds after the last one is ignored.
///
/// @param name its name in events
/// @param payload where it should be
/// @param segments in order
/// @param ended why the recorder stopped storing it before the run's end, or null
public record SealedCapture(
        String name,
        Payload payload,
        List<CaptureSegment> segments,
        @Nullable Ended ended) {

    private static final Pattern SHA256 = Pattern.compile("[0-9a-f]{64}");
    private static final Set<Column> COLUMNS = EnumSet.of(Column.KIND, Column.AT_NS, Column.WHAT, Column.DETAIL);
    private static final int SEGMENTS_MAX = 10_000_000;
    private static final int BUFFER_BYTES = 1 << 16;

    public SealedCapture {
        segments = List.copyOf(segments);
    }

    /// The early end of a file.
    ///
    /// @param index of the event that says so
    /// @param atNs that event's time
    public record Ended(long index, long atNs, String why) {}

    /// All captured files of a run, by name.
    ///
    /// @throws ReplayException `ALTERED` when the events that seal one contradict each other
    /// @throws IOException when the run's events cannot be read
    public static Map<String, SealedCapture> readAll(Recordings recordings, RunId run)
            throws ReplayException, IOException {
        var collector = new Collector(recordings, run);
        try (RunReader reader = RunReader.open(recordings, run, 0, COLUMNS)) {
            while (reader.next()) {
                collector.see(reader.row(), reader.index());
            }
        }
        return collector.captures();
    }

    /// Gathers the captured files of a run while somebody reads its rows in order. Owned by one thread.
    public static final class Collector {
        private final Recordings recordings;
        private final RunId run;
        private final Map<String, Builder> builders = new TreeMap<>();

        public Collector(Recordings recordings, RunId run) {
            this.recordings = recordings;
            this.run = run;
        }

        /// Takes the columns `kind`, `at_ns`, `what` and `detail` of a row.
        ///
        /// @throws ReplayException `ALTERED` when it contradicts earlier ones
        public void see(Row row, long index) throws ReplayException {
            if (row.has(Column.KIND) && row.number(Column.KIND) == Kind.VM_CAPTURE.code()) {
                String name = row.has(Column.WHAT) ? row.text(Column.WHAT).toString() : "";
                builders.computeIfAbsent(name, Builder::new).add(row, index);
            }
        }

        /// The files, by name, as far as rows were seen.
        ///
        /// @throws ReplayException `ALTERED` when one has a name that none can have
        public Map<String, SealedCapture> captures() throws ReplayException {
            var captures = new TreeMap<String, SealedCapture>();
            for (Builder builder : builders.values()) {
                captures.put(builder.name, builder.build(Payload.of(recordings, run, builder.name)));
            }
            return captures;
        }
    }

    /// One captured file of a run.
    ///
    /// @throws ReplayException `MISSING` when the run sealed none of this name, or its files were shredded;
    ///     `ALTERED`
    public static SealedCapture read(Recordings recordings, RunId run, String name)
            throws ReplayException, IOException {
        Payload.refuseShredded(recordings, run);
        SealedCapture capture = readAll(recordings, run).get(name);
        if (capture == null) {
            throw new ReplayException(
                    Code.MISSING,
                    "run " + run + " sealed no file '" + name + "': it was recorded without one, so there is nothing"
                            + " to go by; record again to have it");
        }
        return capture;
    }

    /// Takes the rows about one file, in order.
    static final class Builder {
        private final String name;
        private final List<CaptureSegment> segments = new ArrayList<>();
        private long end;
        private @Nullable Ended ended;

        Builder(String name) {
            this.name = name;
        }

        void add(Row row, long index) throws ReplayException {
            JsonNode detail = RunFacts.detailOf(row);
            long atNs = row.has(Column.AT_NS) ? row.number(Column.AT_NS) : 0;
            if (ended != null) {
                throw contradiction(index, "the file had already ended");
            }
            if (detail.has("ended")) {
                if (detail.path("ended").asLong(-1) != end) {
                    throw contradiction(index, "its end is not that of its last segment");
                }
                ended = new Ended(index, atNs, detail.path("why").asText());
                return;
            }
            long from = detail.path("from").asLong(-1);
            if (from != end || segments.size() >= SEGMENTS_MAX) {
                throw contradiction(index, "a segment from octet " + from + " cannot follow one that ends at " + end);
            }
            long to = detail.path("to").asLong(-1);
            String sha256 = detail.path("sha256").asText();
            if (to <= from || !SHA256.matcher(sha256).matches()) {
                throw contradiction(index, "it names no valid segment");
            }
            Long read = time(detail.path("readNs"));
            if (read != null && read > atNs) {
                throw contradiction(index, "it was sealed before it was read");
            }
            segments.add(new CaptureSegment(
                    index,
                    read == null ? atNs : read,
                    atNs,
                    from,
                    to,
                    Hash.ofHex(sha256),
                    time(detail.path("syncedBeforeNs")),
                    time(detail.path("syncedNs"))));
            end = to;
        }

        private static @Nullable Long time(JsonNode node) {
            return node.isIntegralNumber() && node.canConvertToLong() ? (Long) node.longValue() : null;
        }

        private ReplayException contradiction(long index, String why) {
            return new ReplayException(
                    Code.ALTERED,
                    "event " + index + ", which seals a part of a captured file, is inconsistent: " + why
                            + "; `blackbox verify` shows whether the events are those that were signed");
        }

        SealedCapture build(Payload payload) throws ReplayException {
            if (!name.matches("[a-z0-9-]{1,40}")) {
                throw new ReplayException(Code.ALTERED, "a captured file has an invalid name");
            }
            return new SealedCapture(name, payload, segments, ended);
        }
    }

    /// The number of octets that are sealed.
    public long sealedBytes() {
        return segments.isEmpty() ? 0 : segments.getLast().to();
    }

    /// Checks every sealed segment.
    ///
    /// @throws ReplayException `MISSING` when the file is not here or too short, `ALTERED` when an octet is
    ///     not what was sealed; both say where
    public void check() throws ReplayException {
        long intact = checkTo(sealedBytes());
        if (intact < sealedBytes()) {
            throw payload.truncated(intact, sealedBytes());
        }
    }

    /// Checks the segments that end at `to` or before; returns up to which octet the file has them, which is less
    /// than `to` if it is truncated.
    ///
    /// @throws ReplayException `MISSING` when the file is not here at all, `ALTERED`
    public long checkTo(long to) throws ReplayException {
        long intact = 0;
        try (InputStream in = to == 0 ? InputStream.nullInputStream() : payload.stream()) {
            var buffer = new byte[BUFFER_BYTES];
            for (CaptureSegment segment : segments) {
                if (segment.to() > to) {
                    break;
                }
                MessageDigest digest = Sha256.digest();
                long left = segment.to() - segment.from();
                while (left > 0) {
                    int n = in.read(buffer, 0, (int) Math.min(buffer.length, left));
                    if (n < 0) {
                        return intact;
                    }
                    digest.update(buffer, 0, n);
                    left -= n;
                }
                if (!Hash.copyOf(digest.digest(), 0).equals(segment.sha256())) {
                    throw payload.altered(segment);
                }
                intact = segment.to();
            }
        } catch (IOException e) {
            if (isTruncated(e)) {
                return intact;
            }
            throw payload.failure(e);
        }
        return intact;
    }

    /// Whether the file is too short, rather than altered within a segment.
    private boolean isTruncated(IOException e) throws ReplayException {
        try {
            return e instanceof VaultException fault
                    && fault.code() == VaultException.Code.CUT
                    && payload.size() < sealedBytes();
        } catch (VaultException shorter) {
            return shorter.code() == VaultException.Code.CUT;
        } catch (IOException other) {
            throw payload.failure(other);
        }
    }

    /// The sealed octets. Reading does not check them: call [#check] first.
    public InputStream open() throws IOException {
        return open(sealedBytes());
    }

    /// The octets before `to`.
    public InputStream open(long to) throws IOException {
        return new BoundedInput(payload.stream(), to);
    }
}
