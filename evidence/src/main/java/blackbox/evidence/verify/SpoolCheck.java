package blackbox.evidence.verify;

import blackbox.files.BoundedFiles;
import blackbox.files.RefusedFileException;
import blackbox.schemas.RunId;
import blackbox.schemas.batch.LeafCursor;
import blackbox.schemas.batch.MalformedBatchException;
import blackbox.schemas.batch.SealedBatch;
import blackbox.schemas.batch.SpoolSegment;
import blackbox.schemas.row.LeafCodec;
import blackbox.schemas.row.Row;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/// Walks the batches that are still in the spool in step with the log: those that the table has too are
/// compared with it, later ones continue where it ends. One segment at a time is in memory.
final class SpoolCheck {

    private final RunId run;
    private final boolean live;
    private final Findings findings;
    private final Deque<Path> segments;
    private final Deque<SealedBatch> batches = new ArrayDeque<>();
    private final Row row = new Row();
    private @Nullable SealedBatch before;

    SpoolCheck(RunId run, List<Path> segments, boolean live, Findings findings) {
        this.run = run;
        this.segments = new ArrayDeque<>(segments);
        this.live = live;
        this.findings = findings;
    }

    /// At a batch's end in the table, which continues to `tableEnd`: checks the spool's batches that start
    /// here against the log.
    void compare(LeafLog log, long tableEnd) throws IOException {
        long limit = Math.min(log.size(), tableEnd - 1);
        for (SealedBatch batch = peek(); batch != null && batch.firstIndex() <= limit; batch = peek()) {
            if (batch.firstIndex() != log.size()) {
                findings.tampered(
                        batch.firstIndex(), "a batch in the spool does not start where the table's batch does");
            } else if (log.size() > 0 || batch.sequence() == 0) {
                LeafLog fork = log.fork();
                take(batch, fork);
                log.expect(
                        fork.size(), fork.root(), "the events of a batch in the spool differ from those in the table");
            }
            batches.remove();
        }
    }

    /// After the table's end: continues with the spool's batches.
    void continueWith(LeafLog log) throws IOException {
        boolean goesOn = true;
        for (SealedBatch batch = peek(); batch != null; batch = peek()) {
            batches.remove();
            if (batch.endIndex() <= log.size() && goesOn) {
                findings.tampered(batch.firstIndex(), "a batch in the spool is out of order");
            } else if (batch.firstIndex() != log.size() && goesOn) {
                goesOn = false;
                gap(log.size(), batch.firstIndex());
            } else if (goesOn) {
                goesOn = take(batch, log);
            }
        }
    }

    private void gap(long from, long to) {
        String what = "events " + from + " to " + (to - 1) + " are neither in the table nor in the spool";
        if (live) {
            findings.note(from, what + " yet");
        } else {
            findings.truncated(from, what + "; if the broker still has them, start ingest and verify again");
        }
    }

    private boolean take(SealedBatch batch, LeafLog log) {
        checkLinks(batch);
        LeafCursor leaves = batch.leaves();
        while (leaves.next()) {
            if (!LeafCodec.decode(leaves.array(), leaves.offset(), leaves.offset() + leaves.length(), row)) {
                row.clear();
            }
            log.append(leaves.array(), leaves.offset(), leaves.length(), row);
        }
        boolean holds = log.checkpoint(batch.checkpoint());
        LeafLog.BatchFacts facts = log.lastHeartbeat();
        boolean same = facts.sequence() == batch.sequence()
                && facts.sealedAtNs() == batch.sealedAtNs()
                && Objects.equals(batch.previous(), facts.previous());
        if (!same) {
            findings.tampered(batch.firstIndex(), "a batch in the spool is not the one that its heartbeat describes");
        }
        return holds;
    }

    private void checkLinks(SealedBatch batch) {
        if (!batch.run().equals(run)) {
            findings.tampered(batch.firstIndex(), "the spool holds a batch of another run, " + batch.run());
        }
        SealedBatch last = before;
        boolean follows = last == null
                || last.endIndex() != batch.firstIndex()
                || batch.previous().equals(last.hash());
        if (!follows) {
            findings.tampered(batch.firstIndex(), "a batch in the spool does not name the one before it");
        }
        before = batch;
    }

    private @Nullable SealedBatch peek() throws IOException {
        while (batches.isEmpty() && !segments.isEmpty()) {
            read(segments.remove());
        }
        return batches.peek();
    }

    /// Reads a segment; one that has disappeared meanwhile is at the broker now.
    private void read(Path segment) throws IOException {
        byte[] octets;
        try {
            octets = BoundedFiles.read(segment, SpoolSegment.BYTES_MAX);
        } catch (NoSuchFileException e) {
            return;
        } catch (RefusedFileException e) {
            findings.tampered(-1, "the spool: " + e.getMessage());
            return;
        }
        SpoolSegment read = SpoolSegment.read(octets);
        batches.addAll(read.batches());
        if (read.fault() != null) {
            fault(segment, octets, read);
        }
    }

    private void fault(Path segment, byte[] octets, SpoolSegment read) {
        long index = read.batches().isEmpty() ? -1 : read.batches().getLast().endIndex();
        String what = "the spool segment " + segment.getFileName() + " is damaged, " + read.fault();
        if (!segments.isEmpty() || !isTorn(octets, read.length())) {
            findings.tampered(index, what);
        } else if (!live) {
            findings.truncated(index, what + ": a write that was cut off");
        }
    }

    /// Whether the record at `at` is the beginning of one that was never completed, and not a complete one
    /// with an altered length.
    static boolean isTorn(byte[] octets, int at) {
        int left = octets.length - at;
        if (left < SpoolSegment.RECORD_OVERHEAD) {
            return true;
        }
        ByteBuffer header = ByteBuffer.wrap(octets, at, SpoolSegment.RECORD_OVERHEAD);
        int length = header.getInt();
        int crc = header.getInt();
        int there = left - SpoolSegment.RECORD_OVERHEAD;
        if (length <= there || length > SealedBatch.BYTES_MAX) {
            return false;
        }
        return !startsWithBatch(octets, at + SpoolSegment.RECORD_OVERHEAD, crc);
    }

    /// Whether there is a complete batch with that checksum at `from`, of whatever length.
    private static boolean startsWithBatch(byte[] octets, int from, int crc) {
        var checksum = new CRC32C();
        for (int end = from; end < octets.length; ) {
            checksum.update(octets[end++]);
            if ((int) checksum.getValue() == crc && isBatch(Arrays.copyOfRange(octets, from, end))) {
                return true;
            }
        }
        return false;
    }

    private static boolean isBatch(byte[] octets) {
        try {
            SealedBatch.decode(octets);
            return true;
        } catch (MalformedBatchException e) {
            return false;
        }
    }

    /// Whether a quarantined segment is damaged other than by a write that was cut off.
    static boolean isDamaged(Path segment) throws IOException {
        byte[] octets;
        try {
            octets = BoundedFiles.read(segment, SpoolSegment.BYTES_MAX);
        } catch (RefusedFileException e) {
            return true;
        }
        SpoolSegment read = SpoolSegment.read(octets);
        return read.fault() != null && !isTorn(octets, read.length());
    }
}
