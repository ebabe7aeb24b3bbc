package blackbox.ingest.table;

import blackbox.evidence.log.SignedNote;
import blackbox.evidence.parquet.EventFileReader;
import blackbox.evidence.storage.FileStore;
import blackbox.evidence.storage.StoredFile;
import blackbox.evidence.store.DataFile;
import blackbox.evidence.trust.NextSigner;
import blackbox.evidence.verify.SealTrust;
import blackbox.ingest.IngestException;
import blackbox.ingest.check.ChainState;
import blackbox.ingest.check.Reason;
import blackbox.ingest.check.RunStates;
import blackbox.schemas.RunId;
import blackbox.schemas.row.Column;
import blackbox.schemas.table.DataFileName;
import blackbox.schemas.table.EventsTable;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Reads how far a run was committed from the run's own folder: the footer of its last data file says so,
/// under that file's seal. No list of runs is kept anywhere, and a run that nobody asks about costs
/// nothing.
///
/// Files that a commit has stored and the catalog does not name do not count; a commit's intent tells them
/// from files that another engine took out of the catalog, which do. A state counts only under the
/// signature of a key that may seal: where the table names a file whose seal does not hold, nothing more of
/// its run is accepted.
public final class TableStates implements RunStates, AutoCloseable {

    private static final int ATTEMPTS_MAX = 10;

    private final EventTable table;
    private final FileStore files;
    private final SealTrust trust;

    /// Whether no state is left in a snapshot's summary, where older versions had them.
    private volatile boolean moved;

    /// @param table opened for reading, and closed with this
    /// @param files where data files lie
    public TableStates(EventTable table, FileStore files, SealTrust trust) {
        this.table = table;
        this.files = files;
        this.trust = trust;
    }

    @Override
    public Standing of(RunId run) throws IngestException {
        try {
            for (int attempt = 1; ; attempt++) {
                try {
                    return look(run);
                } catch (NoSuchFileException e) {
                    if (attempt == ATTEMPTS_MAX) {
                        throw e;
                    }
                    // Another file has just taken its place.
                }
            }
        } catch (IOException e) {
            throw IngestException.ofIo("cannot read how far run " + run + " was ingested", e);
        }
    }

    private Standing look(RunId run) throws IOException, IngestException {
        ChainState inSummary = inSummary(run);
        if (inSummary != null) {
            return new Open(inSummary);
        }
        List<String> names = files.list(EventsTable.dataFolder(run));
        if (names.isEmpty()) {
            return new Unseen();
        }
        ChainState noted = names.contains(EventsTable.STATE_NOTE) ? noted(run) : null;
        for (DataFile file : latestFirst(run, names)) {
            boolean believed = trust.faultOf(run, file) == null;
            boolean counts = believed ? !isPending(file) || table.wasCommitted(Set.of(file.key())) : isNamed(run, file);
            if (counts) {
                return believed ? standing(run, file, noted) : unreliable();
            }
        }
        return noted != null && noted.nextIndex() == 0 ? new Open(noted) : new Unseen();
    }

    /// As of an older version's last commit.
    private @Nullable ChainState inSummary(RunId run) throws IngestException {
        if (moved) {
            return null;
        }
        table.refresh();
        CommitState last = table.state();
        moved = last.runs().isEmpty();
        return last.runs().get(run);
    }

    private @Nullable ChainState noted(RunId run) throws IOException {
        byte[] octets;
        try (StoredFile file = files.open(EventTable.key(run, EventsTable.STATE_NOTE))) {
            octets = file.octets(RunState.BYTES_MAX);
        }
        SignedNote note = octets == null ? null : RunState.noteOf(octets);
        return note == null || !trust.isSigned(note) ? null : RunState.parse(note.text(), run);
    }

    private List<DataFile> latestFirst(RunId run, List<String> names) {
        Set<String> present = new HashSet<>(names);
        var sealed = new ArrayList<DataFile>();
        for (String each : names) {
            DataFileName name = DataFileName.parse(each);
            if (name != null && present.contains(name.sealName())) {
                sealed.add(new DataFile(files, EventTable.key(run, each), name));
            }
        }
        sealed.sort((one, two) -> Long.compare(two.name().endIndex(), one.name().endIndex()));
        return sealed;
    }

    /// Whether a commit is about to add it, or was when its process ended.
    private boolean isPending(DataFile file) throws IOException {
        return Staging.pending(table.layout()).contains(file.key());
    }

    private boolean isNamed(RunId run, DataFile file) throws IngestException {
        return table.ownFiles(Set.of(run)).contains(file.key());
    }

    private Standing standing(RunId run, DataFile last, @Nullable ChainState noted) throws IOException {
        long end = last.name().endIndex();
        String text;
        try (EventFileReader reader = EventFileReader.open(last.open(), run, EnumSet.noneOf(Column.class))) {
            text = reader.note(EventsTable.STATE_KEY);
        }
        if (text.isEmpty()) { // an older version wrote it
            return noted != null && noted.nextIndex() <= end ? new Open(noted) : new Closed(end);
        }
        if (text.equals(EventsTable.CLOSED)) {
            return new Closed(end);
        }
        if (noted != null && noted.nextIndex() == end) { // it was stopped after its last row
            return new Open(noted);
        }
        try {
            ChainState state = ChainState.parse(text);
            return state.nextIndex() == end ? new Open(state) : unreliable();
        } catch (IllegalArgumentException e) {
            return unreliable();
        }
    }

    private static Standing unreliable() {
        return new Open(ChainState.NEW.signedBy(new NextSigner.Nobody()).stopped(Reason.TABLE));
    }

    @Override
    public void close() throws IngestException {
        table.close();
    }
}
