package blackbox.evidence.verify;

import blackbox.evidence.anchor.AnchorTrust;
import blackbox.evidence.anchor.AnchoredRange;
import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.parquet.EventFileReader;
import blackbox.evidence.parquet.MalformedParquetException;
import blackbox.evidence.parquet.NewerFileException;
import blackbox.evidence.storage.FileStore;
import blackbox.evidence.store.DataFile;
import blackbox.evidence.store.FileTrust;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.RefusedBatch;
import blackbox.evidence.store.TransparencyLogReader;
import blackbox.evidence.verify.Verification.Completeness;
import blackbox.evidence.verify.Verification.Time;
import blackbox.schemas.RunId;
import blackbox.schemas.row.LeafCodec;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import blackbox.schemas.table.DataFileName;
import blackbox.schemas.table.EventsTable;
import blackbox.schemas.table.FileSeal;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Verifies one run from its files and public keys alone.
///
/// Order: the whole log of runs; every data file against its seal; then the rows of each file, encoded to
/// leaves again, go into the tree, and every checkpoint is checked against it; at the same time the spool's
/// batches, which also continue where the table ends. Nothing in a file is parsed unless its seal holds.
/// After the first file or checkpoint that does not hold, later events are not accepted.
public final class RunVerifier {

    private static final int ATTEMPTS_MAX = 5;

    private final Recordings recordings;
    private final RunId run;
    private final Findings findings = new Findings();
    private final LogCheck transparencyLog;
    private final TrustedKeys keys;
    private final LeafLog log;
    private final RawLeaf rawLeaf = new RawLeaf();

    /// A leaf's octets after an octet 0, the prefix that is hashed with it.
    private final byte[] leaf = new byte[1 + LeafCodec.BYTES_MAX];

    /// Sealed files whose events are in another file too, in order.
    private final Deque<DataFile> redundant = new ArrayDeque<>();

    /// Rows that an older version stored without the parts that it did not know.
    private final CountedEvents behind = new CountedEvents(
            "was stored by a version that did not know all of it: SQL queries do not see what was added since",
            "were stored by a version that did not know all of them: SQL queries do not see what was added since");

    private long tableEnd;

    private RunVerifier(Recordings recordings, RunId run, LogCheck transparencyLog, TrustedKeys keys) {
        this.recordings = recordings.trusting(FileTrust.UNCHECKED);
        this.run = run;
        this.transparencyLog = transparencyLog;
        this.keys = keys;
        this.log = new LeafLog(run, keys, findings);
    }

    /// Verifies `run` with the keys that are trusted.
    ///
    /// @throws IOException when a file cannot be read at all (the disk, permissions), or was written by a
    /// newer version with columns that this one does not know: an operating failure, not a verdict
    public static Verification verify(Recordings recordings, RunId run, List<? extends NoteVerifier> trusted)
            throws IOException {
        return verify(recordings, run, trusted, null);
    }

    /// The same, with a checkpoint of the log of runs that was kept elsewhere: the log must be an extension
    /// of it.
    public static Verification verify(
            Recordings recordings, RunId run, List<? extends NoteVerifier> trusted, @Nullable SignedNote kept)
            throws IOException {
        return verify(recordings, run, trusted, kept, AnchorTrust.none());
    }

    /// The same, with the statements of outside parties about time.
    ///
    /// @param anchors whose statements are trusted
    public static Verification verify(
            Recordings recordings,
            RunId run,
            List<? extends NoteVerifier> trusted,
            @Nullable SignedNote kept,
            AnchorTrust anchors)
            throws IOException {
        for (int attempt = 1; ; attempt++) {
            try {
                LogCheck transparencyLog = LogCheck.read(new TransparencyLogReader(recordings.log()), run, trusted);
                var keys = new TrustedKeys(trusted, transparencyLog);
                return new RunVerifier(recordings, run, transparencyLog, keys).verify(kept, anchors);
            } catch (NoSuchFileException e) {
                if (attempt == ATTEMPTS_MAX) {
                    throw e;
                }
                // Ingest has replaced this file with another one: start again.
            }
        }
    }

    /// Verifies as if the log of runs had not revoked `sealer`: whether what that key sealed holds otherwise. Ingest
    /// must not be running.
    public static Verification verifyDespiteRevocation(
            Recordings recordings, RunId run, List<? extends NoteVerifier> trusted, NoteVerifier sealer)
            throws IOException {
        LogCheck transparencyLog = LogCheck.read(new TransparencyLogReader(recordings.log()), run, trusted);
        var keys = new TrustedKeys(trusted, transparencyLog);
        keys.believeSealer(sealer);
        return new RunVerifier(recordings, run, transparencyLog, keys).verify(null, AnchorTrust.none());
    }

    private Verification verify(@Nullable SignedNote kept, AnchorTrust trust) throws IOException {
        transparencyLog.check(findings, kept);
        transparencyLog.checkClock(findings);
        AnchorCheck anchors =
                AnchorCheck.read(new TransparencyLogReader(recordings.log()), transparencyLog.log(), trust);
        anchors.check(findings);
        transparencyLog.expectIn(log);
        boolean live = recordings.isLive(run);
        List<Path> segments = recordings.spoolSegments(run);
        var spool = new SpoolCheck(run, segments, live, findings);
        boolean believed = true;
        var files = new FileCheck(run, keys::signedSeal);
        List<DataFile> sealed = recordings.dataFiles(run);
        tableEnd =
                sealed.stream().mapToLong(file -> file.name().endIndex()).max().orElse(0);
        Set<DataFile> faulty = checkSeals(files, sealed);
        List<DataFile> committed = recordings.committedFiles(run);
        for (DataFile file : sealed) {
            if (!committed.contains(file) && !faulty.contains(file)) {
                redundant.add(file);
            }
        }
        for (DataFile file : committed) {
            believed = believed && !faulty.contains(file) && rows(file, spool);
        }
        checkStrays(files, sealed, live);
        if (believed) {
            spool.continueWith(log);
        }
        checkQuarantine();
        log.finish(live);
        behind.tell(findings);
        checkEnd();
        List<AnchoredRange> ranges = findings.isTampered() ? List.of() : anchors.ranges(log.coveredEnd());
        Time time = anchors.time(ranges, log.coveredEnd(), findings);
        Completeness completeness = completeness(live);
        return new Verification(
                findings.integrity(),
                completeness,
                unknownFrom(completeness, live),
                time,
                keys.authorship(),
                log.coveredEnd(),
                log.checkpoints(),
                ranges,
                findings.all(),
                findings.isTampered() ? null : log.control());
    }

    private void checkEnd() {
        if (log.size() == 0) {
            findings.truncated(
                    0,
                    transparencyLog.knowsRun()
                            ? "nothing of the run is left, but the log of runs contains it"
                            : "there is nothing of the run");
        } else if (log.isClosed() && log.isCertified() && !findings.isTampered()) {
            transparencyLog.checkClose(findings, log.size());
        }
    }

    private Completeness completeness(boolean live) {
        boolean whole = log.isClosed() && !findings.isTruncated();
        if (whole) {
            Losses losses = log.losses(live);
            return losses.areNone()
                    ? Completeness.COMPLETE
                    : losses.isKnown() ? Completeness.LOSS_DECLARED : Completeness.UNKNOWN;
        }
        return live && !findings.isTruncated() ? Completeness.OPEN : Completeness.TRUNCATED;
    }

    /// Nothing is known of what no accepted checkpoint covers.
    private @Nullable Long unknownFrom(Completeness completeness, boolean live) {
        if (completeness == Completeness.COMPLETE || completeness == Completeness.LOSS_DECLARED) {
            return null;
        }
        Long from = log.losses(live).unknownFrom();
        return from == null ? (Long) log.coveredEnd() : (Long) Math.min(from, log.coveredEnd());
    }

    private Set<DataFile> checkSeals(FileCheck files, List<DataFile> sealed) throws IOException {
        var faulty = new HashSet<DataFile>();
        for (DataFile file : sealed) {
            String fault = files.faultOf(file);
            if (fault != null) {
                faulty.add(file);
                findings.tampered(file.name().firstIndex(), file.name() + ": " + fault);
            }
        }
        return faulty;
    }

    /// Takes a file's rows; false if what follows cannot be accepted.
    private boolean rows(DataFile file, SpoolCheck spool) throws IOException {
        DataFileName name = file.name();
        if (name.firstIndex() < log.size()) {
            findings.tampered(name.firstIndex(), name + ": it repeats events of another file, up to " + log.size());
            return false;
        }
        if (name.firstIndex() > log.size()) {
            findings.tampered(
                    log.size(),
                    "events " + log.size() + " to " + (name.firstIndex() - 1) + " are missing from the table");
            return false;
        }
        try (EventFileReader reader = EventFileReader.open(file.open(), run)) {
            return rows(reader, name, spool);
        } catch (NewerFileException e) {
            throw unverifiable(name, e);
        } catch (MalformedParquetException e) {
            findings.tampered(log.size(), name + ": " + e.getMessage());
            return false;
        }
    }

    private IOException unverifiable(DataFileName file, NewerFileException why) {
        return new IOException("run " + run + " cannot be verified here: " + file + ": " + why.getMessage(), why);
    }

    private boolean rows(EventFileReader reader, DataFileName name, SpoolCheck spool) throws IOException {
        compare(spool);
        while (reader.next()) {
            if (reader.index() != log.size() || reader.index() >= name.endIndex()) {
                findings.tampered(
                        log.size(),
                        name + ": event " + reader.index() + " is in the place of event " + log.size() + "");
                return false;
            }
            Text checkpoint = reader.checkpoint();
            if (!append(reader, log) || !log.checkpoint(checkpoint == null ? null : checkpoint.toString())) {
                return false;
            }
            if (checkpoint != null) {
                compare(spool);
            }
        }
        if (log.size() != name.endIndex() || log.coveredEnd() != log.size()) {
            findings.tampered(
                    log.coveredEnd(),
                    name + ": it does not end with event " + (name.endIndex() - 1) + " and its checkpoint");
            return false;
        }
        return true;
    }

    /// At a batch's end: other copies of the events from here on must agree.
    private void compare(SpoolCheck spool) throws IOException {
        spool.compare(log, tableEnd);
        for (DataFile file = redundant.peek();
                file != null && file.name().firstIndex() <= log.size();
                file = redundant.peek()) {
            redundant.remove();
            boolean same = file.name().firstIndex() == log.size() && holdsTheSame(file);
            if (same) {
                findings.note(log.size(), file.name() + ": its events are in another file too; they are counted once");
            } else {
                findings.tampered(
                        file.name().firstIndex(), file.name() + ": its events differ from those in another file");
            }
        }
    }

    /// Whether a redundant file (ingest leaves one when it is killed while it replaces several files with
    /// one) leads to the same roots.
    private boolean holdsTheSame(DataFile file) throws IOException {
        LeafLog fork = log.fork();
        try (EventFileReader reader = EventFileReader.open(file.open(), run)) {
            while (reader.next()) {
                Text checkpoint = reader.checkpoint();
                if (reader.index() != fork.size()
                        || !append(reader, fork)
                        || !fork.checkpoint(checkpoint == null ? null : checkpoint.toString())) {
                    return false;
                }
            }
        } catch (NewerFileException e) {
            throw unverifiable(file.name(), e);
        } catch (MalformedParquetException e) {
            return false;
        }
        log.expect(fork.size(), fork.root(), file.name() + ": its events differ from those in another file");
        return fork.size() == file.name().endIndex() && fork.coveredEnd() == fork.size();
    }

    private boolean append(EventFileReader reader, LeafLog log) {
        Row row = reader.row();
        Text raw = reader.raw();
        if (raw == null) {
            if (LeafCodec.sizeMax(row) > LeafCodec.BYTES_MAX && LeafCodec.size(row) > LeafCodec.BYTES_MAX) {
                findings.tampered(log.size(), "event " + log.size() + " is longer than a leaf can be");
                return false;
            }
            log.append(leaf, 1, LeafCodec.encode(row, leaf, 1) - 1, row);
            return true;
        }
        byte[] octets = raw.toBytes();
        if (octets.length > LeafCodec.BYTES_MAX || !rawLeaf.isShownBy(octets, reader)) {
            findings.tampered(log.size(), "the columns of event " + log.size() + " do not agree with its raw leaf");
            return false;
        }
        if (log == this.log && rawLeaf.saysMoreThan(reader)) {
            behind.add(log.size());
        }
        System.arraycopy(octets, 0, leaf, 1, octets.length);
        log.append(leaf, 1, octets.length, rawLeaf.row());
        return true;
    }

    /// Data files without a seal, and seals without their file.
    private void checkStrays(FileCheck files, List<DataFile> sealed, boolean live) throws IOException {
        var known = new HashSet<String>();
        sealed.forEach(file -> {
            known.add(file.key());
            known.add(file.sealKey());
        });
        FileStore store = recordings.files();
        String folder = EventsTable.dataFolder(run) + "/";
        for (String entry : store.list(EventsTable.dataFolder(run))) {
            String key = folder + entry;
            if (known.contains(key)) {
                continue;
            }
            DataFileName name = DataFileName.parse(entry);
            if (name != null && store.exists(key) && !store.exists(folder + name.sealName())) {
                findings.tampered(name.firstIndex(), name + ": it has no seal");
            }
            FileSeal seal = entry.endsWith(DataFileName.SEAL_SUFFIX) ? files.orphan(store, key) : null;
            if (seal != null && seal.file().endIndex() > log.coveredEnd() && !live) {
                findings.truncated(seal.file().firstIndex(), seal.file() + ": the file is missing, its seal is there");
            }
        }
    }

    private void checkQuarantine() throws IOException {
        for (Path entry : Recordings.entries(recordings.quarantineFolder(run))) {
            String name = String.valueOf(entry.getFileName());
            if (name.endsWith(".json")) {
                refusedBatch(entry, name);
            } else if (name.startsWith("spool-")) {
                quarantinedSegment(entry, name);
            }
        }
    }

    /// A batch that ingest refused. One that stopped the run was in the place of a genuine one; others could
    /// come from anyone.
    private void refusedBatch(Path entry, String name) throws IOException {
        String what = "ingest refused a batch: quarantine/" + run + "/" + name;
        if (RefusedBatch.stopsRun(entry)) {
            findings.tampered(-1, what);
        } else {
            findings.note(-1, what);
        }
    }

    private void quarantinedSegment(Path entry, String name) throws IOException {
        String what = "the recorder's spool had a damaged end: quarantine/" + run + "/" + name;
        if (SpoolCheck.isDamaged(entry)) {
            findings.tampered(-1, what);
        } else {
            findings.note(-1, what + ", a write that was cut off");
        }
    }
}
