package blackbox.evidence.verify;

import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.parquet.EventFileReader;
import blackbox.evidence.parquet.MalformedParquetException;
import blackbox.evidence.parquet.NewerFileException;
import blackbox.evidence.store.DataFile;
import blackbox.evidence.store.FileTrust;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.TransparencyLogReader;
import blackbox.evidence.tiles.CheckedLog;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// Believes data files whose seal holds: signed by a key that may seal that run's files, over exactly these
/// octets, this name and this run, and with the table's own schema. What the rows say is not checked
/// against the recorder's signatures; ingest did that before it sealed them, and [RunVerifier] does it
/// again.
///
/// Reads each file once, at the speed of SHA-256, and remembers the outcome for as long as the store says that the
/// file and its seal are what they were, and the keys that may seal are, too. Safe to use from several threads.
public final class SealTrust implements FileTrust {

    private final Recordings recordings;
    private final KeySource trusted;
    private final Map<String, Checked> checked = new ConcurrentHashMap<>();
    private volatile @Nullable Survey survey;

    /// The public keys that are trusted to begin with, as of now.
    @FunctionalInterface
    public interface KeySource {
        List<NoteVerifier> read() throws IOException;
    }

    private record Checked(String state, Optional<String> fault) {}

    private record Place(Path log, Instant issued) {}

    /// What the logs of runs said when they had those heads.
    ///
    /// @param log the folder's own, which alone names keys that seal data files; null if it does not hold
    /// @param certified where each run is certified
    private record Survey(
            String heads,
            List<NoteVerifier> trusted,
            @Nullable CheckedLog log,
            Map<RunId, Place> certified) {

        List<NoteVerifier> sealers() {
            CheckedLog holds = log;
            if (holds == null) {
                return trusted;
            }
            var sealers = new ArrayList<>(trusted);
            sealers.addAll(holds.keys().sealers());
            sealers.removeIf(holds.keys()::isRevokedSealer);
            return sealers;
        }
    }

    /// @param folder whose log of runs, and copies of other hosts' logs, say which runs there are
    public SealTrust(DataFolder folder, KeySource trusted) {
        this.recordings = Recordings.unchecked(folder.root());
        this.trusted = trusted;
    }

    @Override
    public @Nullable String faultOf(RunId run, DataFile file) throws IOException {
        List<NoteVerifier> sealers = survey().sealers();
        String state = stateOf(file) + ", " + sealers.hashCode();
        Checked before = checked.get(file.key());
        if (before != null && before.state.equals(state)) {
            return before.fault.orElse(null);
        }
        String fault = check(run, file, sealers);
        checked.put(file.key(), new Checked(state, Optional.ofNullable(fault)));
        return fault;
    }

    /// Whether a key that may seal data files signed the note.
    public boolean isSigned(SignedNote note) throws IOException {
        return note.signedBy(survey().sealers()) != null;
    }

    @Override
    public Map<RunId, Instant> begun() throws IOException {
        var begun = new HashMap<RunId, Instant>();
        survey().certified.forEach((run, place) -> begun.put(run, place.issued()));
        return begun;
    }

    @Override
    public @Nullable Path logOf(RunId run) throws IOException {
        Place place = survey().certified.get(run);
        return place == null ? null : place.log();
    }

    private static @Nullable String check(RunId run, DataFile file, List<NoteVerifier> sealers) throws IOException {
        String fault = new FileCheck(run, note -> note.signedBy(sealers) != null).faultOf(file);
        return fault == null ? schemaFault(run, file) : fault;
    }

    private static @Nullable String schemaFault(RunId run, DataFile file) throws IOException {
        try (EventFileReader reader = EventFileReader.open(file.open(), run)) {
            long rows = file.name().endIndex() - file.name().firstIndex();
            return reader.rows() == rows ? null : "it has " + reader.rows() + " rows and its name says " + rows;
        } catch (NewerFileException e) {
            return null; // whoever reads it says what is missing
        } catch (MalformedParquetException e) {
            return e.getMessage();
        }
    }

    /// What changes when the file or its seal does.
    private static String stateOf(DataFile file) throws IOException {
        return file.store().version(file.key()) + ", " + file.store().version(file.sealKey());
    }

    private Survey survey() throws IOException {
        Survey last = survey;
        var folders = new ArrayList<>(List.of(recordings.log()));
        folders.addAll(recordings.otherLogs());
        var heads = new StringBuilder();
        for (Path folder : folders) {
            heads.append(folder).append('\n').append(CheckedLog.headOf(new TransparencyLogReader(folder)));
        }
        if (last != null && last.heads.contentEquals(heads)) {
            return last;
        }
        List<NoteVerifier> keys = trusted.read();
        CheckedLog own = null;
        var certified = new HashMap<RunId, Place>();
        for (Path folder : folders) {
            CheckedLog.Outcome outcome = CheckedLog.readSettled(new TransparencyLogReader(folder), keys, null);
            if (outcome instanceof CheckedLog.Holds(CheckedLog holds)) {
                own = folder.equals(recordings.log()) ? holds : own;
                holds.runs().forEach((run, at) -> certified.putIfAbsent(run, new Place(folder, at.issued())));
            }
        }
        var found = new Survey(heads.toString(), keys, own, certified);
        survey = found;
        return found;
    }
}
