package blackbox.ingest.table;

import blackbox.evidence.anchor.AnchorTrust;
import blackbox.evidence.bundle.RunOrigin;
import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.store.DataFile;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.verify.Verification;
import blackbox.evidence.verify.Verification.Finding;
import blackbox.ingest.IngestException;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/// What engines that read a run through the catalog get, compared with its sealed files: another engine may commit to
/// the table too, and what it adds, replaces or deletes there changes no sealed file.
public final class CatalogView {

    private static final int NAMES_MAX = 5;

    private CatalogView() {}

    /// Verifies a run, as [RunOrigin#verify] does, with the findings of [#compare].
    public static Verification verify(
            Recordings recordings,
            RunId run,
            List<? extends NoteVerifier> trusted,
            @Nullable SignedNote kept,
            AnchorTrust anchors)
            throws IOException {
        return RunOrigin.verify(recordings, run, trusted, kept, anchors).with(compare(recordings, run));
    }

    /// A finding if the catalog shows other files than the sealed ones, hides rows of them, or cannot be read; none
    /// where there is no catalog.
    public static List<Finding> compare(Recordings recordings, RunId run) throws IOException {
        if (recordings.isImported(run)) {
            return List.of(); // never part of the table here
        }
        boolean live = recordings.isLive(run);
        Set<String> sealed = new TreeSet<>();
        for (DataFile file : recordings.committedFiles(run)) {
            sealed.add(file.name().toString());
        }
        try (EventTable table = EventTable.openForReading(new DataFolder(recordings.data()))) {
            return table == null ? List.of() : compare(table, run, sealed, live);
        } catch (IngestException e) {
            return List.of(new Finding(-1, "CATALOG_UNREADABLE: " + e.getMessage()));
        }
    }

    /// @param live whether files may be sealed and not yet committed at this moment
    private static List<Finding> compare(EventTable table, RunId run, Set<String> sealed, boolean live)
            throws IngestException {
        var foreign = new TreeSet<String>();
        var deletes = new TreeSet<String>();
        Set<String> named = new HashSet<>();
        for (EventTable.Named each : table.namedNow(run)) {
            if (each.own()) {
                named.add(nameOf(each.location()));
            } else {
                foreign.add(nameOf(each.location()));
            }
            each.deletes().forEach(location -> deletes.add(nameOf(location)));
        }
        sealed.removeAll(named);
        var differences = new ArrayList<String>();
        add(differences, "names files that ingest did not write", foreign);
        add(differences, "hides rows by delete files", deletes);
        if (!live) {
            add(differences, "does not name sealed files", sealed);
        }
        return differences.isEmpty()
                ? List.of()
                : List.of(new Finding(
                        -1,
                        "FOREIGN_COMMIT: another program committed to the catalog, which now "
                                + String.join(", and ", differences)
                                + "; programs that read through the catalog see other rows than these"));
    }

    private static void add(List<String> differences, String what, Set<String> names) {
        if (!names.isEmpty()) {
            String shown = String.join(", ", names.stream().limit(NAMES_MAX).toList());
            int more = names.size() - NAMES_MAX;
            differences.add(what + " (" + shown + (more > 0 ? " and " + more + " more" : "") + ")");
        }
    }

    private static String nameOf(String location) {
        return location.substring(location.lastIndexOf('/') + 1);
    }
}
