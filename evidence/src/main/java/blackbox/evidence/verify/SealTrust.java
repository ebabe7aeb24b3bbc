package blackbox.evidence.verify;

import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.parquet.EventFileReader;
import blackbox.evidence.parquet.MalformedParquetException;
import blackbox.evidence.parquet.NewerFileException;
import blackbox.evidence.store.DataFile;
import blackbox.evidence.store.FileTrust;
import blackbox.evidence.store.TransparencyLogReader;
import blackbox.evidence.tiles.CheckedLog;
import blackbox.schemas.RunId;
import java.io.IOException;
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

    private final TransparencyLogReader log;
    private final KeySource trusted;
    private final Map<String, Checked> checked = new ConcurrentHashMap<>();
    private volatile @Nullable Survey survey;

    /// The public keys that are trusted to begin with, as of now.
    @FunctionalInterface
    public interface KeySource {
        List<NoteVerifier> read() throws IOException;
    }

    private record Checked(String state, Optional<String> fault) {}

    /// What the log of runs said when it had that head.
    private record Survey(
            String head,
            List<NoteVerifier> trusted,
            @Nullable CheckedLog log) {

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

    public SealTrust(TransparencyLogReader log, KeySource trusted) {
        this.log = log;
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
        CheckedLog holds = survey().log;
        var begun = new HashMap<RunId, Instant>();
        if (holds != null) {
            holds.runs().forEach((run, certified) -> begun.put(run, certified.issued()));
        }
        return begun;
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
        String head = CheckedLog.headOf(log);
        if (last != null && last.head.equals(head)) {
            return last;
        }
        List<NoteVerifier> keys = trusted.read();
        CheckedLog.Outcome outcome = CheckedLog.readSettled(log, keys, null);
        var found = new Survey(head, keys, outcome instanceof CheckedLog.Holds(CheckedLog holds) ? holds : null);
        survey = found;
        return found;
    }
}
