package blackbox.ingest.table;

import blackbox.evidence.storage.FileStore;
import blackbox.files.Folders;
import blackbox.files.ProcessLock;
import blackbox.ingest.IngestException;
import blackbox.ingest.IngestException.Code;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import blackbox.schemas.table.DataFileName;
import blackbox.schemas.table.EventsTable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.apache.iceberg.CatalogProperties;
import org.apache.iceberg.ContentFile;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.SnapshotChanges;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableMetadataParser;
import org.apache.iceberg.TableScan;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.jdbc.JdbcCatalog;
import org.jspecify.annotations.Nullable;

/// The events table. [#openForWriting] holds the writer's lock until closed, [#openForGroup] shares it with
/// other members; [#openForReading] never changes anything.
///
/// A reader is safe to use from several threads; a writer belongs to one.
public final class EventTable implements AutoCloseable {

    private static final TableIdentifier ID = TableIdentifier.of(EventsTable.NAMESPACE, EventsTable.NAME);

    private static final Comparator<DataFileEntry> ORDER = Comparator.comparing(DataFileEntry::run)
            .thenComparingLong(entry -> entry.name().firstIndex());

    private final DataFolder layout;
    private final JdbcCatalog catalog;
    private final @Nullable Writing writing;
    private final Table table;

    private EventTable(DataFolder layout, JdbcCatalog catalog, @Nullable Writing writing, Table table) {
        this.layout = layout;
        this.catalog = catalog;
        this.writing = writing;
        this.table = table;
    }

    /// What only a writer has.
    ///
    /// @param files where data files and their seals lie
    /// @param staging where this process prepares them
    private record Writing(ProcessLock lock, FileStore files, Staging staging) {}

    /// Who writes.
    private enum Mode {
        ALONE,
        MEMBER
    }

    /// Opens the table for one process alone, creating it if it is missing, adds the columns that were
    /// introduced since it was created, and finishes commits that a crash interrupted.
    ///
    /// @param files where data files and their seals lie; all else is in the data folder
    /// @throws IngestException `IN_USE` when another process has it open for writing, `CATALOG` when a
    ///     newer version created it
    public static EventTable openForWriting(DataFolder data, FileStore files) throws IngestException {
        return open(data, files, Mode.ALONE);
    }

    /// The same as one of several members of a group, each of which commits for the partitions that it is
    /// assigned.
    ///
    /// @throws IngestException `IN_USE` when another process writes it alone, `CATALOG` when a newer
    ///     version created it
    public static EventTable openForGroup(DataFolder data, FileStore files) throws IngestException {
        return open(data, files, Mode.MEMBER);
    }

    private static EventTable open(DataFolder data, FileStore files, Mode mode) throws IngestException {
        DataFolder layout = data.absolute();
        ProcessLock lock = lock(layout, mode);
        Staging staging = null;
        try (ProcessLock _ = ProcessLock.take(layout.ingestOpening())) {
            Folders.create(layout.staging());
            JdbcCatalog catalog = catalog(layout);
            if (!catalog.tableExists(ID)) {
                create(catalog, layout);
            }
            Table known = known(catalog);
            staging = mode == Mode.ALONE
                    ? Staging.alone(layout)
                    : Staging.ofMember(layout, UUID.randomUUID().toString());
            var table = new EventTable(layout, catalog, new Writing(lock, files, staging), known);
            TableGrowth.addColumns(table.table);
            table.requireOwnCommit();
            table.finishLeft();
            return table;
        } catch (IngestException e) {
            release(lock, staging);
            throw e;
        } catch (IOException e) {
            release(lock, staging);
            throw IngestException.ofIo("cannot open the table in " + layout.table(), e);
        } catch (RuntimeException e) {
            release(lock, staging);
            throw catalogFailure(layout, e);
        }
    }

    /// Opens the table for reading; null if there is none yet.
    public static @Nullable EventTable openForReading(DataFolder data) throws IngestException {
        DataFolder layout = data.absolute();
        if (!Files.exists(layout.catalog())) {
            return null;
        }
        try {
            JdbcCatalog catalog = catalog(layout);
            if (!catalog.tableExists(ID)) {
                catalog.close();
                return null;
            }
            return new EventTable(layout, catalog, null, known(catalog));
        } catch (RuntimeException e) {
            throw catalogFailure(layout, e);
        }
    }

    private static Table known(JdbcCatalog catalog) throws IngestException {
        Table table = catalog.loadTable(ID);
        try {
            TableGrowth.requireKnown(table);
            return table;
        } catch (IngestException e) {
            catalog.close();
            throw e;
        }
    }

    private static ProcessLock lock(DataFolder layout, Mode mode) throws IngestException {
        try {
            Folders.create(layout.root());
            ProcessLock lock = mode == Mode.ALONE
                    ? ProcessLock.tryTake(layout.ingestLock())
                    : ProcessLock.tryTakeShared(layout.ingestLock());
            if (lock != null) {
                return lock;
            }
            throw new IngestException(Code.IN_USE, holder(layout, mode));
        } catch (IOException e) {
            throw IngestException.ofIo("cannot lock the table in " + layout.root(), e);
        }
    }

    private static String holder(DataFolder layout, Mode mode) throws IOException {
        if (mode == Mode.MEMBER) {
            return "`serve` or `record` ingests into " + layout.root()
                    + " by itself, so no group can; end it, or use another --data folder";
        }
        try (ProcessLock shared = ProcessLock.tryTakeShared(layout.ingestLock())) {
            return shared == null
                    ? "another process ingests into " + layout.root() + "; use that one, or another --data folder"
                    : "`blackbox ingest` ingests into " + layout.root()
                            + " as a group; end all its processes first, or record with --recorder-only";
        }
    }

    private static JdbcCatalog catalog(DataFolder layout) {
        var catalog = new JdbcCatalog(_ -> new LocalFiles(layout.table()), null, true);
        catalog.initialize(
                "blackbox",
                Map.of(
                        CatalogProperties.URI,
                        "jdbc:sqlite:" + layout.catalog() + "?busy_timeout=10000",
                        CatalogProperties.WAREHOUSE_LOCATION,
                        layout.warehouse().toString(),
                        CatalogProperties.CLIENT_POOL_SIZE,
                        "1",
                        "jdbc.schema-version",
                        "V1"));
        return catalog;
    }

    private static void create(JdbcCatalog catalog, DataFolder layout) {
        if (!catalog.namespaceExists(Namespace.of(EventsTable.NAMESPACE))) {
            catalog.createNamespace(Namespace.of(EventsTable.NAMESPACE));
        }
        String metadata = layout.table() + "/metadata/00000-" + UUID.randomUUID() + ".metadata.json";
        TableMetadataParser.write(
                IcebergSchema.metadata(layout.table().toString()),
                new LocalFiles(layout.table()).newOutputFile(metadata));
        catalog.registerTable(ID, metadata);
    }

    static IngestException catalogFailure(DataFolder layout, Exception e) {
        if (e instanceof UncheckedIOException && e.getCause() instanceof IOException cause) {
            return IngestException.ofIo("cannot read or write the table in " + layout.table(), cause);
        }
        String reason = e.getMessage();
        boolean full = reason != null && (reason.contains("SQLITE_FULL") || reason.contains("No space left"));
        return new IngestException(
                full ? Code.DISK_FULL : Code.CATALOG,
                full
                        ? "no space is left for the catalog " + layout.catalog()
                        : "the catalog " + layout.catalog() + " cannot be used",
                e);
    }

    /// The state of ingest's last commit, wherever other engines have moved the table since.
    public CommitState state() {
        Snapshot last = lastCommit();
        return last == null ? CommitState.EMPTY : CommitState.of(last.summary());
    }

    /// The latest snapshot that ingest committed; null if there is none. Not the current one when another
    /// engine has committed, or rolled the table back, since.
    @Nullable
    Snapshot lastCommit() {
        return StreamSupport.stream(table.snapshots().spliterator(), false)
                .filter(snapshot -> CommitState.isIn(snapshot.summary()))
                .max(Comparator.comparingLong(Snapshot::sequenceNumber))
                .orElse(null);
    }

    /// @throws IngestException `CATALOG` if others' snapshots are all that is left
    private void requireOwnCommit() throws IngestException {
        if (table.currentSnapshot() != null && lastCommit() == null) {
            throw new IngestException(
                    Code.CATALOG,
                    "another program committed to the table in " + layout.table() + " and expired the snapshots of"
                            + " ingest, so it is not known what ingest has stored; the recordings can still be read"
                            + " and verified, but new ones need another --data folder");
        }
    }

    /// The data files of one run by index, or of all runs where `run` is null, as of now. Files that others
    /// added are not among them.
    public List<DataFileEntry> plan(@Nullable RunId run) throws IngestException {
        table.refresh();
        return own(named(table.currentSnapshot(), run)).sorted(ORDER).toList();
    }

    /// A data file that the catalog names.
    ///
    /// @param own whether its place and name are such as Blackbox gives
    /// @param deletes the locations of the delete files that apply to it
    record Named(String location, boolean own, List<String> deletes) {}

    /// All data files that the current snapshot names for a run, whoever wrote them.
    List<Named> namedNow(RunId run) throws IngestException {
        table.refresh();
        return named(table.currentSnapshot(), run).stream()
                .map(task -> new Named(
                        task.file().location(),
                        entry(task.file()) != null,
                        task.deletes().stream().map(ContentFile::location).toList()))
                .toList();
    }

    /// How many rows each run has. Rows of files that another engine took out of the catalog count: they
    /// are in the store.
    public Map<RunId, Long> lengths() throws IngestException {
        table.refresh();
        var lengths = new HashMap<RunId, Long>();
        for (Snapshot snapshot : Arrays.asList(table.currentSnapshot(), lastCommit())) {
            own(named(snapshot, null))
                    .forEach(entry -> lengths.merge(entry.run(), entry.name().endIndex(), Math::max));
        }
        return lengths;
    }

    /// All files that a snapshot names, of one run where `run` is not null.
    private List<FileScanTask> named(@Nullable Snapshot snapshot, @Nullable RunId run) throws IngestException {
        return planned(
                snapshot,
                run == null ? Expressions.alwaysTrue() : Expressions.equal(EventsTable.RUN.name(), run.value()));
    }

    private List<FileScanTask> planned(@Nullable Snapshot snapshot, Expression filter) throws IngestException {
        if (snapshot == null) {
            return List.of();
        }
        TableScan scan = table.newScan().useSnapshot(snapshot.snapshotId()).filter(filter);
        try (CloseableIterable<FileScanTask> tasks = scan.planFiles()) {
            var files = new ArrayList<FileScanTask>();
            tasks.forEach(files::add);
            return files;
        } catch (IOException | RuntimeException e) {
            throw catalogFailure(layout, e);
        }
    }

    /// The files of these runs that Blackbox put there and that the current snapshot, or ingest's own last
    /// one, names: by key, the end of its rows.
    Map<String, Long> committedEnds(Collection<RunId> runs) throws IngestException {
        Expression these = Expressions.in(
                EventsTable.RUN.name(), runs.stream().map(RunId::value).toArray());
        var ends = new HashMap<String, Long>();
        for (Snapshot snapshot : new HashSet<>(Arrays.asList(table.currentSnapshot(), lastCommit()))) {
            own(planned(snapshot, these))
                    .forEach(entry -> ends.put(keyOf(entry), entry.name().endIndex()));
        }
        return ends;
    }

    /// Whether a commit of ingest added one of these files, which are one commit's: the table names it, or one of
    /// ingest's snapshots did that is still known. [TableWriter] keeps those as long as somebody may ask.
    boolean wasCommitted(Collection<String> keys) throws IngestException {
        if (ownFiles(runsOf(keys)).stream().anyMatch(keys::contains)) {
            return true;
        }
        for (Snapshot snapshot : table.snapshots()) {
            if (CommitState.isIn(snapshot.summary()) && added(snapshot).anyMatch(keys::contains)) {
                return true;
            }
        }
        return false;
    }

    /// The keys of the files that ingest added in a snapshot of its own; none if it has just been expired.
    private Stream<String> added(Snapshot snapshot) throws IngestException {
        try {
            var added = new ArrayList<String>();
            SnapshotChanges changes =
                    SnapshotChanges.builderFor(table).snapshot(snapshot).build();
            for (DataFile file : changes.addedDataFiles()) {
                DataFileEntry entry = entry(file);
                if (entry != null) {
                    added.add(keyOf(entry));
                }
            }
            return added.stream();
        } catch (RuntimeException e) {
            refresh();
            if (table.snapshot(snapshot.snapshotId()) == null) {
                return Stream.of();
            }
            throw catalogFailure(layout, e);
        }
    }

    /// The keys of the files of these runs that the table names as of now.
    Set<String> ownFiles(Collection<RunId> runs) throws IngestException {
        refresh();
        return committedEnds(runs).keySet();
    }

    /// Sees what others have committed.
    void refresh() throws IngestException {
        try {
            table.refresh();
        } catch (RuntimeException e) {
            throw catalogFailure(layout, e);
        }
    }

    /// Identifies the table, wherever it is moved.
    public UUID uuid() {
        return table.uuid();
    }

    private Stream<DataFileEntry> own(List<FileScanTask> files) {
        return files.stream().map(task -> entry(task.file())).filter(Objects::nonNull);
    }

    /// The file as an entry; null if its place and name are not such as Blackbox gives.
    private @Nullable DataFileEntry entry(DataFile file) {
        String[] parts = file.location().split("/", -1);
        RunId run = parts.length < 2 ? null : EventsTable.runOf(parts[parts.length - 2]);
        DataFileName name = DataFileName.parse(parts[parts.length - 1]);
        if (run == null || name == null) {
            return null;
        }
        Path path = layout.dataFiles(run).resolve(name.toString());
        return new DataFileEntry(run, name, path, file.recordCount(), file.fileSizeInBytes());
    }

    /// Completes what members of the group left that have ended, or removes what they had stored. A writer's.
    public void clearUp() throws IngestException {
        try (ProcessLock free = ProcessLock.tryTake(layout.ingestOpening())) {
            if (free != null) { // otherwise somebody else does this at the moment
                finishLeft();
            }
        } catch (IOException e) {
            throw IngestException.ofIo("cannot complete what another process left in " + layout.staging(), e);
        }
    }

    /// The process that writes alone has ended if another one opens the table, whichever way.
    void finishLeft() throws IOException, IngestException {
        try {
            Staging.eachLeft(layout, this::finishCommit);
            finishCommit(layout.staging());
            Staging.clear(layout.staging());
        } catch (UncheckedIngest e) {
            throw e.cause;
        }
    }

    /// Carries a failure through a method that knows only files.
    private static final class UncheckedIngest extends RuntimeException {

        private static final long serialVersionUID = 1L;

        private final transient IngestException cause;

        UncheckedIngest(IngestException cause) {
            super(cause);
            this.cause = cause;
        }
    }

    /// Completes a commit that was interrupted, or removes what it had stored; everything else in the store
    /// stays, whoever put it there. The caller holds the folder's lock: only now has its process ended, and the
    /// table may be asked what became of its commit.
    private void finishCommit(Path folder) throws IOException {
        CommitIntent intent = CommitIntent.read(folder);
        if (intent.added().isEmpty()) {
            return;
        }
        boolean committed;
        try {
            committed = wasCommitted(intent.added());
        } catch (IngestException e) {
            throw new UncheckedIngest(e);
        }
        for (String key : committed ? intent.replaced() : intent.added()) {
            remove(key);
        }
    }

    private static Set<RunId> runsOf(Collection<String> keys) {
        var runs = new HashSet<RunId>();
        for (String key : keys) {
            String[] parts = key.split("/", -1);
            RunId run = parts.length < 2 ? null : EventsTable.runOf(parts[parts.length - 2]);
            if (run != null) {
                runs.add(run);
            }
        }
        return runs;
    }

    /// Takes back what a commit that was refused had stored.
    void takeBack(CommitIntent intent) throws IOException {
        for (String key : intent.added()) {
            remove(key);
        }
        CommitIntent.remove(staging());
    }

    /// Removes a data file from the store, and then its seal.
    void remove(String key) throws IOException {
        files().delete(key);
        files().delete(key + DataFileName.SEAL_SUFFIX);
    }

    private static String keyOf(DataFileEntry entry) {
        return key(entry.run(), entry.name().toString());
    }

    /// The key of a run's file in the store.
    static String key(RunId run, String name) {
        return EventsTable.dataFolder(run) + "/" + name;
    }

    /// Where the writer's data files and their seals lie.
    FileStore files() {
        return Objects.requireNonNull(writing, "opened for reading").files();
    }

    /// Where the writer prepares files.
    Path staging() {
        return Objects.requireNonNull(writing, "opened for reading").staging().folder();
    }

    DataFolder layout() {
        return layout;
    }

    Table iceberg() {
        return table;
    }

    private static void release(ProcessLock lock, @Nullable Staging staging) throws IngestException {
        try (lock) {
            if (staging != null) {
                staging.close();
            }
        } catch (IOException e) {
            throw IngestException.ofIo("cannot release the table's lock", e);
        }
    }

    @Override
    public void close() throws IngestException {
        try {
            catalog.close();
        } finally {
            if (writing != null) {
                release(writing.lock(), writing.staging());
            }
        }
    }
}
