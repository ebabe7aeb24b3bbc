package blackbox.recorder.runlog;

import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.EntryBundle;
import blackbox.evidence.log.NoteSigner;
import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.log.TilePath;
import blackbox.evidence.sign.Ed25519Verifier;
import blackbox.evidence.trust.KeyHistory;
import blackbox.evidence.trust.KeyStatement;
import blackbox.evidence.trust.KeyStatement.Action;
import blackbox.evidence.trust.KeyStatement.Role;
import blackbox.evidence.trust.ReplayNote;
import blackbox.evidence.trust.RunKeyCertificate;
import blackbox.files.ProcessLock;
import blackbox.recorder.RecorderException;
import blackbox.recorder.RecorderException.Code;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// The writer of a data folder's log of runs. Contract: when [#append] returns, the notes are leaves of the
/// log permanently, whatever process is killed afterwards; when it throws, they may or may not be, and
/// nothing else has changed.
///
/// Each append takes the folder's lock, reads the log's edge from the disk and checks it against the
/// checkpoint that is signed; if the two disagree, nothing is written anymore. Tiles and entries are durable
/// before the checkpoint is replaced. All methods are safe to call from several threads and, with other
/// objects, processes.
public final class TransparencyLogWriter {

    private static final String LOCK = "lock";
    private static final Duration LOCK_TIMEOUT = Duration.ofSeconds(60);
    private static final long LOCK_POLL_MS = 5;

    private final Path folder;
    private final List<NoteSigner> signers;
    private final List<NoteVerifier> known;
    private final Instant validFrom;
    private final @Nullable Instant validUntil;
    private final InstantSource clock;
    private final LogFiles files;

    /// The key that signs the log.
    ///
    /// @param signers the signers of each note; key statements are about the first one
    /// @param validUntil exclusive, or null for no end
    public record Signer(
            List<? extends NoteSigner> signers,
            Instant validFrom,
            @Nullable Instant validUntil) {

        public Signer {
            signers = List.copyOf(signers);
        }
    }

    /// Where notes were appended.
    ///
    /// @param firstIndex index of the first
    /// @param size leaves of the log, including them
    /// @param checkpoint the log's signed checkpoint over as many
    public record Appended(long firstIndex, long size, String checkpoint) {}

    /// A log in `folder`, which is created at the first append; its origin is the key's name.
    public TransparencyLogWriter(Path folder, Signer signer, InstantSource clock) {
        this(folder, signer, List.of(), clock, new DiskFiles());
    }

    TransparencyLogWriter(
            Path folder,
            Signer signer,
            Collection<? extends NoteVerifier> before,
            InstantSource clock,
            LogFiles files) {
        this.folder = folder;
        this.signers = List.copyOf(signer.signers());
        this.validFrom = signer.validFrom();
        this.validUntil = signer.validUntil();
        this.clock = clock;
        this.files = files;
        this.known = new ArrayList<>(before);
        signers.forEach(each -> known.add(each.verifier()));
    }

    /// The same log, whose last checkpoint may also be signed by the key `before`: for the rotation that
    /// replaces that key.
    public TransparencyLogWriter after(Collection<? extends NoteVerifier> before) {
        return new TransparencyLogWriter(folder, new Signer(signers, validFrom, validUntil), before, clock, files);
    }

    /// The log's name.
    public String origin() {
        return signers.getFirst().verifier().name();
    }

    /// Certifies the key of a run's first epoch and appends the certificate.
    ///
    /// @return the certificate, a signed note
    public String certify(RunId run, Ed25519Verifier firstKey) throws RecorderException {
        String note = SignedNote.sign(new RunKeyCertificate(run, firstKey, now()).text(), signers);
        append(List.of(note));
        return note;
    }

    /// Signs and appends that a run was replayed.
    ///
    /// @param document SHA-256 of the verdict's document, which must be durable already
    /// @return the note that was signed
    public String replayed(RunId run, ReplayNote.ReplayMethod tier, ReplayNote.Outcome outcome, Hash document)
            throws RecorderException {
        String note = SignedNote.sign(new ReplayNote(run, tier, outcome, document, now()).text(), signers);
        append(List.of(note));
        return note;
    }

    /// Appends the statement that `key` seals data files, unless the log has it already.
    ///
    /// @throws RecorderException `KEY` when the log has revoked that key
    public void certifyIngest(NoteVerifier key) throws RecorderException {
        locked(edge -> {
            KeyHistory history = history(edge.size());
            if (history.isRevokedSealer(key)) {
                throw new RecorderException(
                        Code.KEY,
                        "the key that seals data files, " + key.name()
                                + ", was revoked and cannot return; remove keys/ingest.* for a new one to be made");
            }
            return history.believed(Role.INGEST, edge.size()).contains(key)
                    ? null
                    : commit(edge, List.of(state(history, Action.CERTIFY, key, Role.INGEST)));
        });
    }

    /// Appends the statement that `key` is not to be trusted anymore, unless the log says so of an ingest key already.
    public void revoke(NoteVerifier key, Role role) throws RecorderException {
        locked(edge -> {
            KeyHistory history = history(edge.size());
            return role == Role.INGEST && history.isRevokedSealer(key)
                    ? null
                    : stated(edge, history, state(history, Action.REVOKE, key, role));
        });
    }

    /// Appends the statement that this log's key replaces the key that has signed it so far, and signs the
    /// log from there on. Does nothing if the log says so already.
    ///
    /// @param before the signers of the key that is replaced
    /// @throws RecorderException when the statement would not hold: that key has expired, or is not the log's
    public void rotate(List<? extends NoteSigner> before) throws RecorderException {
        after(before.stream().map(NoteSigner::verifier).toList()).takeOver(before);
    }

    private void takeOver(List<? extends NoteSigner> before) throws RecorderException {
        NoteVerifier key = signers.getFirst().verifier();
        locked(edge -> {
            KeyHistory history = history(edge.size());
            if (key.equals(history.currentLogKey())) {
                return null;
            }
            Instant from = validFrom.isBefore(history.latest()) ? history.latest() : validFrom;
            var statement = new KeyStatement(Action.ROTATE, origin(), key, Role.LOG, from, validUntil);
            var both = new ArrayList<NoteSigner>(before);
            both.addAll(signers);
            String note = SignedNote.sign(statement.text(), both);
            return stated(edge, history, note);
        });
    }

    /// Appends a key statement that holds; one that does not would invalidate everything after it.
    private Appended stated(LogEdge edge, KeyHistory history, String note) throws IOException, RecorderException {
        String fault = history.add(edge.size(), Objects.requireNonNull(SignedNote.parse(note)));
        if (fault != null) {
            throw new RecorderException(Code.KEY, "the log of runs would not hold with this statement: " + fault);
        }
        return commit(edge, List.of(note));
    }

    /// A statement of the log's key, from now on. The times of statements never go back, even if the host's
    /// clock does.
    private String state(KeyHistory history, Action action, NoteVerifier key, Role role) throws RecorderException {
        Instant now = now();
        Instant from = now.isBefore(history.latest()) ? history.latest() : now;
        return SignedNote.sign(new KeyStatement(action, origin(), key, role, from, null).text(), signers);
    }

    /// Now, at which the key must be valid.
    private Instant now() throws RecorderException {
        Instant now = clock.instant();
        Instant end = validUntil;
        if (end != null && !now.isBefore(end)) {
            throw new RecorderException(
                    Code.KEY,
                    "the key of the log of runs expired at " + end
                            + " and can no longer sign anything, not even its own"
                            + " rotation; record into a new data folder; this one can still be verified");
        }
        return now.isBefore(validFrom) ? validFrom : now;
    }

    /// The log's keys according to its statements; reads the whole log.
    ///
    /// @throws IOException when they do not hold
    private KeyHistory history(long size) throws IOException {
        var history = new KeyHistory(known);
        for (long first = 0; first < size; first += TilePath.FULL) {
            TilePath path = TilePath.entries(first / TilePath.FULL, (int) Math.min(TilePath.FULL, size - first));
            byte[] octets = files.read(folder.resolve(path.path()));
            EntryBundle bundle = octets == null ? null : EntryBundle.parse(octets, path.width());
            if (bundle == null) {
                throw new IOException("the log has no complete " + path);
            }
            for (int i = 0; i < bundle.entries().size(); i++) {
                add(history, first + i, bundle.entries().get(i));
            }
        }
        return history;
    }

    private static void add(KeyHistory history, long index, byte[] leaf) throws IOException {
        String text = new String(leaf, StandardCharsets.UTF_8);
        SignedNote note = KeyStatement.isOne(text) ? SignedNote.parse(text) : null;
        String fault = note == null ? null : history.add(index, note);
        if (fault != null) {
            throw new IOException("its key statement " + index + " does not hold: " + fault);
        }
    }

    /// Appends notes, in this order and with nothing between them.
    ///
    /// @throws RecorderException `RUN_LOG` when the log cannot be written or what is there does not hold
    public Appended append(List<String> notes) throws RecorderException {
        if (notes.isEmpty()) {
            throw new IllegalArgumentException("there is nothing to append");
        }
        return Objects.requireNonNull(locked(edge -> commit(edge, notes)));
    }

    /// An operation on the log under its lock.
    private interface Work {
        @Nullable
        Appended on(LogEdge edge) throws IOException, RecorderException;
    }

    private synchronized @Nullable Appended locked(Work work) throws RecorderException {
        try (ProcessLock lock = lock()) {
            LogEdge edge = edge();
            if (edge.size() == 0) {
                commit(edge, List.of(SignedNote.sign(begin().text(), signers)));
                edge = edge();
            }
            return lock.channel().isOpen() ? work.on(edge) : null;
        } catch (IOException e) {
            throw new RecorderException(
                    Code.RUN_LOG, "cannot append to the log of runs in " + folder + ": " + reason(e), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RecorderException(Code.CLOSED, "interrupted while waiting for the log of runs", e);
        }
    }

    private KeyStatement begin() {
        return new KeyStatement(Action.BEGIN, origin(), signers.getFirst().verifier(), Role.LOG, validFrom, validUntil);
    }

    private ProcessLock lock() throws IOException, InterruptedException {
        files.createFolders(folder);
        for (long deadline = System.nanoTime() + LOCK_TIMEOUT.toNanos(); System.nanoTime() < deadline; ) {
            ProcessLock lock = ProcessLock.tryTake(folder.resolve(LOCK));
            if (lock != null) {
                return lock;
            }
            TimeUnit.MILLISECONDS.sleep(LOCK_POLL_MS);
        }
        throw new IOException("another process has had its lock for " + LOCK_TIMEOUT.toSeconds() + " s");
    }

    /// The log's state on the disk, checked.
    private LogEdge edge() throws IOException {
        byte[] octets = files.read(folder.resolve(TilePath.CHECKPOINT));
        if (octets == null) {
            requireUnborn();
            return LogEdge.empty();
        }
        SignedNote note = SignedNote.parse(new String(octets, StandardCharsets.UTF_8));
        Checkpoint checkpoint = note == null ? null : Checkpoint.parse(note.text());
        if (note == null || checkpoint == null || note.signedBy(known) == null) {
            throw new IOException("its checkpoint is not one that this folder's key has signed");
        }
        if (!checkpoint.origin().equals(origin())) {
            throw new IOException("it is another log, " + checkpoint.origin());
        }
        return LogEdge.read(tile -> files.read(folder.resolve(tile.path())), checkpoint);
    }

    /// A crash before the first checkpoint leaves at most the first leaf; anything more once had a
    /// checkpoint, which someone removed.
    private void requireUnborn() throws IOException {
        for (int width = 2; width <= TilePath.FULL; width++) {
            if (files.exists(folder.resolve(TilePath.entries(0, width).path()))) {
                throw new IOException("its checkpoint is missing; nothing is appended to a log that lost it");
            }
        }
    }

    private Appended commit(LogEdge edge, List<String> notes) throws IOException {
        long first = edge.size();
        for (String note : notes) {
            byte[] leaf = note.getBytes(StandardCharsets.UTF_8);
            if (SignedNote.parse(note) == null || leaf.length > EntryBundle.ENTRY_LENGTH_MAX) {
                throw new IllegalArgumentException(
                        "a leaf of the log of runs is a signed note, of at most 65535 octets");
            }
            edge.append(leaf);
        }
        Map<TilePath, byte[]> changed = edge.changed();
        writeTiles(changed);
        String checkpoint = SignedNote.sign(new Checkpoint(origin(), edge.size(), edge.root()).text(), signers);
        replace(folder.resolve(TilePath.CHECKPOINT), checkpoint.getBytes(StandardCharsets.UTF_8));
        files.sync(folder);
        dropPartials(changed.keySet());
        return new Appended(first, edge.size(), checkpoint);
    }

    private void writeTiles(Map<TilePath, byte[]> changed) throws IOException {
        Set<Path> folders = new LinkedHashSet<>();
        for (Map.Entry<TilePath, byte[]> tile : changed.entrySet()) {
            Path file = folder.resolve(tile.getKey().path());
            Path parent = file.resolveSibling("");
            if (folders.add(parent)) {
                files.createFolders(parent);
            }
            replace(file, tile.getValue());
        }
        for (Path each : folders) {
            files.sync(each);
        }
    }

    private void replace(Path file, byte[] octets) throws IOException {
        Path staged = file.resolveSibling(file.getFileName() + ".new");
        files.write(staged, octets);
        files.rename(staged, file);
    }

    /// A full tile replaces its partial ones (C2SP tlog-tiles).
    private void dropPartials(Set<TilePath> changed) {
        for (TilePath tile : changed) {
            if (!tile.isPartial()) {
                try {
                    files.deleteFolder(folder.resolve(tile.path() + ".p"));
                } catch (IOException _) {
                    // Leftovers do no harm, and the leaves are in the log.
                }
            }
        }
    }

    private static String reason(IOException e) {
        String message = e.getMessage();
        return message == null ? e.getClass().getSimpleName() : message;
    }
}
