package blackbox.evidence.store;

import blackbox.evidence.storage.FileStore;
import blackbox.evidence.storage.LocalStore;
import blackbox.files.ProcessLock;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import blackbox.schemas.table.DataFileName;
import blackbox.schemas.table.EventsTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The recordings in a data folder. Immutable; every call reads the disk again.
///
/// @param files where data files and their seals lie
/// @param trust which of them answers are made from
public record Recordings(Path data, FileStore files, FileTrust trust) {

    private static final int ATTEMPTS_MAX = 10;

    /// With data files in the folder itself, as in a bundle or a copy; for callers that check them
    /// themselves. Where an installation has its data files, it says itself (`blackbox.node.data`).
    public static Recordings unchecked(Path data) {
        return unchecked(data, LocalStore.in(new DataFolder(data)));
    }

    /// The same, with data files in `files`.
    public static Recordings unchecked(Path data, FileStore files) {
        return new Recordings(data, files, FileTrust.UNCHECKED);
    }

    /// The same recordings, with answers made only from what `checked` believes.
    public Recordings trusting(FileTrust checked) {
        return new Recordings(data, files, checked);
    }

    private DataFolder folder() {
        return new DataFolder(data);
    }

    /// Whether the run came with `blackbox import`: its evidence is that of another data folder.
    public boolean isImported(RunId run) {
        return Files.isDirectory(folder().importedEvidence(run));
    }

    /// The recordings that a run's evidence is in: these, or the bundle of an imported run, which is laid out as a
    /// data folder with a log of runs of its own. What is stored beside its events, and verdicts on its replays,
    /// are in these all the same.
    public Recordings holding(RunId run) {
        Path own = folder().importedEvidence(run);
        return isImported(run) ? new Recordings(own, LocalStore.in(new DataFolder(own)), trust) : this;
    }

    /// The folder of a run's spool segments.
    public Path spoolFolder(RunId run) {
        return holding(run).folder().spool(run);
    }

    /// The folder with the files that are stored beside a run's events (`schemas/capture.md`).
    public Path captureFolder(RunId run) {
        return folder().captures(run);
    }

    /// The quarantine folder of a run: batches that failed their check, damaged ends of spools.
    public Path quarantineFolder(RunId run) {
        return holding(run).folder().quarantine(run);
    }

    /// The folder with the recorder's and ingest's public keys.
    public Path keys() {
        return folder().keys();
    }

    /// The folder of the log of runs.
    public Path log() {
        return folder().log();
    }

    /// The cache of what was computed from a run's leaves; may be deleted.
    public Path treeCache(RunId run) {
        return folder().treeCache(run);
    }

    /// Every run that left a trace, oldest first.
    public List<RunId> runs() throws IOException {
        var runs = new TreeSet<RunId>();
        for (String folder : files.list(EventsTable.DATA_FOLDER)) {
            RunId run = folder.endsWith("/") ? EventsTable.runOf(folder.substring(0, folder.length() - 1)) : null;
            if (run != null) {
                runs.add(run);
            }
        }
        collect(folder().spool(), runs);
        collect(folder().runs(), runs);
        collect(folder().importedRuns(), runs);
        return List.copyOf(runs);
    }

    /// The runs that the log of runs has a certificate of and that left no trace here, and when they began.
    public SortedMap<RunId, Instant> missingRuns() throws IOException {
        var missing = new TreeMap<RunId, Instant>(trust.begun());
        runs().forEach(missing::remove);
        return missing;
    }

    private static void collect(Path folder, Collection<RunId> runs) throws IOException {
        for (Path entry : entries(folder)) {
            RunId run = parse(String.valueOf(entry.getFileName()));
            if (run != null) {
                runs.add(run);
            }
        }
    }

    private static @Nullable RunId parse(String name) {
        try {
            return new RunId(name);
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    /// A run's sealed data files, in order.
    public List<DataFile> dataFiles(RunId run) throws IOException {
        var sealed = new ArrayList<DataFile>();
        String folder = EventsTable.dataFolder(run);
        FileStore files = holding(run).files;
        List<String> entries = files.list(folder);
        var present = new HashSet<>(entries);
        for (String entry : entries) {
            DataFileName name = DataFileName.parse(entry);
            if (name != null && present.contains(name.sealName())) {
                sealed.add(new DataFile(files, folder + "/" + entry, name));
            }
        }
        sealed.sort(null);
        return sealed;
    }

    /// A run's data files that are believed, without those that hold nothing new: every index is in one of
    /// them, or in two where files overlap in part (readers skip what they have had).
    public List<DataFile> committedFiles(RunId run) throws IOException {
        for (int attempt = 1; ; attempt++) {
            try {
                return committed(run);
            } catch (NoSuchFileException e) {
                if (attempt == ATTEMPTS_MAX) {
                    throw e;
                }
                // Ingest has just put another file in the place of this one.
            }
        }
    }

    private List<DataFile> committed(RunId run) throws IOException {
        var committed = new ArrayList<DataFile>();
        long next = 0;
        for (DataFile file : dataFiles(run)) {
            if (file.name().endIndex() > next && trust.faultOf(run, file) == null) {
                committed.add(file);
                next = file.name().endIndex();
            }
        }
        return committed;
    }

    /// The files in a run's folder that answers are not made from, by name, and the events that are missing
    /// between others. A seal without its data file is not among them: ingest may be about to put the file
    /// there.
    public List<LeftOut> leftOut(RunId run) throws IOException {
        var leftOut = new ArrayList<LeftOut>();
        var known = new HashSet<String>();
        for (DataFile file : dataFiles(run)) {
            known.add(file.name().toString());
            known.add(file.name().sealName());
            String fault = faultOf(run, file);
            if (fault != null) {
                leftOut.add(new LeftOut(run, file.name().toString(), fault));
            }
        }
        for (String entry : holding(run).files.list(EventsTable.dataFolder(run))) {
            if (!known.contains(entry)
                    && !entry.endsWith(DataFileName.SEAL_SUFFIX)
                    && !entry.equals(EventsTable.STATE_NOTE)) {
                boolean data = DataFileName.parse(entry) != null;
                leftOut.add(new LeftOut(run, entry, data ? "it has no seal" : "it is none of the table's files"));
            }
        }
        long next = 0;
        for (DataFile file : committedFiles(run)) {
            if (file.name().firstIndex() > next) {
                String missing = "events " + next + " to " + (file.name().firstIndex() - 1);
                leftOut.add(new LeftOut(run, missing, "no file that is believed holds them"));
            }
            next = file.name().endIndex();
        }
        return leftOut;
    }

    private @Nullable String faultOf(RunId run, DataFile file) throws IOException {
        try {
            return trust.faultOf(run, file);
        } catch (NoSuchFileException e) {
            return null; // replaced, and so in no answer
        }
    }

    /// How many of a run's events its sealed files hold without a gap from the first on. Such a file may be
    /// there a moment before the commit that makes it part of the table (decision 0040).
    public long sealedEnd(RunId run) throws IOException {
        long end = 0;
        for (DataFile file : dataFiles(run)) {
            if (file.name().firstIndex() > end) {
                break;
            }
            end = Math.max(end, file.name().endIndex());
        }
        return end;
    }

    /// A run's spool segments, in order.
    public List<Path> spoolSegments(RunId run) throws IOException {
        return entries(spoolFolder(run)).stream()
                .filter(path -> path.toString().endsWith(".seg"))
                .toList();
    }

    /// The entries of a folder in the order of their names; none if it does not exist.
    public static List<Path> entries(Path folder) throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.sorted().toList();
        } catch (NoSuchFileException | NotDirectoryException e) {
            return List.of();
        }
    }

    /// Whether the run's recorder is alive, in whatever container it runs: whether `runs/<run>/lock` is locked.
    public boolean isLive(RunId run) {
        return ProcessLock.isHeld(folder().runLock(run));
    }
}
