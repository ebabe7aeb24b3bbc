package blackbox.ingest.table;

import blackbox.evidence.storage.FileStore;
import blackbox.evidence.storage.LocalStore;
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
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.apache.iceberg.CatalogProperties;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableMetadataParser;
import org.apache.iceberg.TableScan;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.jdbc.JdbcCatalog;
import org.jspecify.annotations.Nullable;

/// The events table. [#openForWriting] holds the writer's lock until closed; [#openForReading] never changes
/// anything.
///
/// A reader is safe to use from several threads; the writer belongs to one.
public final class EventTable implements AutoCloseable {

    private static final TableIdentifier ID = TableIdentifier.of(EventsTable.NAMESPACE, EventsTable.NAME);

    private final DataFolder layout;
    private final FileStore files;
    private final JdbcCatalog catalog;
    private final @Nullable ProcessLock lock;
    private final Table table;

    private EventTable(
            DataFolder layout, FileStore files, JdbcCatalog catalog, @Nullable ProcessLock lock, Table table) {
        this.layout = layout;
        this.files = files;
        this.catalog = catalog;
        this.lock = lock;
        this.table = table;
    }

    /// Opens the table, creating it if it is missing, adds the columns that were introduced since it was
    /// created, and cleans up after a crash.
    ///
    /// @throws IngestException `IN_USE` when another process has it open for writing, `CATALOG` when a newer
    ///     version created it
    public static EventTable openForWriting(DataFolder data) throws IngestException {
        return openForWriting(data, new LocalStore(data.warehouse()));
    }

    /// The same, with data files and their seals in `files` and all else in the data folder.
    public static EventTable openForWriting(DataFolder data, FileStore files) throws IngestException {
        DataFolder layout = data.absolute();
        ProcessLock lock = lock(layout);
        try {
            Folders.create(layout.staging());
            JdbcCatalog catalog = catalog(layout);
            if (!catalog.tableExists(ID)) {
                create(catalog, layout);
            }
            var table = new EventTable(layout, files, catalog, lock, known(catalog));
            TableGrowth.addColumns(table.table);
            table.removeDebris();
            return table;
        } catch (IngestException e) {
            release(lock);
            throw e;
        } catch (IOException e) {
            release(lock);
            throw IngestException.ofIo("cannot open the table in " + layout.table(), e);
        } catch (RuntimeException e) {
            release(lock);
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
            return new EventTable(layout, new LocalStore(layout.warehouse()), catalog, null, known(catalog));
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

    private static ProcessLock lock(DataFolder layout) throws IngestException {
        try {
            Folders.create(layout.root());
            ProcessLock lock = ProcessLock.tryTake(layout.ingestLock());
            if (lock != null) {
                return lock;
            }
        } catch (IOException e) {
            throw IngestException.ofIo("cannot lock the table in " + layout.root(), e);
        }
        throw new IngestException(
                Code.IN_USE,
                "another process ingests into " + layout.root() + "; use that one, or another --data folder");
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

    /// The state of the last commit.
    public CommitState state() {
        Snapshot snapshot = table.currentSnapshot();
        return snapshot == null ? CommitState.EMPTY : CommitState.of(snapshot.summary());
    }

    /// The data files of one run by index, or of all runs where `run` is null, as of now.
    public List<DataFileEntry> plan(@Nullable RunId run) throws IngestException {
        try {
            table.refresh();
            TableScan scan = table.newScan();
            if (run != null) {
                scan = scan.filter(Expressions.equal(EventsTable.RUN.name(), run.value()));
            }
            var entries = new ArrayList<DataFileEntry>();
            try (CloseableIterable<FileScanTask> tasks = scan.planFiles()) {
                for (FileScanTask task : tasks) {
                    entries.add(entry(task.file()));
                }
            }
            entries.sort(Comparator.comparing(DataFileEntry::run)
                    .thenComparingLong(entry -> entry.name().firstIndex()));
            return entries;
        } catch (IOException | RuntimeException e) {
            throw catalogFailure(layout, e);
        }
    }

    /// How many rows each run has.
    public Map<RunId, Long> lengths() throws IngestException {
        var lengths = new HashMap<RunId, Long>();
        for (DataFileEntry entry : plan(null)) {
            lengths.merge(entry.run(), entry.name().endIndex(), Math::max);
        }
        return lengths;
    }

    private DataFileEntry entry(DataFile file) {
        String location = file.location();
        DataFileName name = DataFileName.parse(location.substring(location.lastIndexOf('/') + 1));
        if (name == null) {
            throw new IllegalStateException("the table names a data file that Blackbox did not write: " + location);
        }
        var run = new RunId(String.valueOf(file.partition().get(0, CharSequence.class)));
        Path path = layout.dataFiles(run).resolve(name.toString());
        return new DataFileEntry(run, name, path, file.recordCount(), file.fileSizeInBytes());
    }

    /// Removes files that were never committed: all in the staging folder, and final names that no snapshot
    /// knows.
    private void removeDebris() throws IOException, IngestException {
        for (Path file : list(layout.staging())) {
            Files.delete(file);
        }
        Set<String> known = new HashSet<>();
        for (DataFileEntry entry : plan(null)) {
            String key = key(entry.run(), entry.name().toString());
            known.add(key);
            known.add(key + DataFileName.SEAL_SUFFIX);
        }
        for (String folder : files.list(EventsTable.DATA_FOLDER)) {
            RunId run = folder.endsWith("/") ? EventsTable.runOf(folder.substring(0, folder.length() - 1)) : null;
            if (run != null) {
                removeUnknown(run, known);
            }
        }
    }

    private void removeUnknown(RunId run, Set<String> known) throws IOException {
        for (String name : files.list(EventsTable.dataFolder(run))) {
            String key = key(run, name);
            if (!known.contains(key)) {
                files.delete(key);
            }
        }
    }

    /// The key of a run's file in the store.
    static String key(RunId run, String name) {
        return EventsTable.dataFolder(run) + "/" + name;
    }

    /// Where data files and their seals lie.
    FileStore files() {
        return files;
    }

    private static List<Path> list(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.toList();
        }
    }

    DataFolder layout() {
        return layout;
    }

    Table iceberg() {
        return table;
    }

    private static void release(@Nullable ProcessLock lock) throws IngestException {
        try {
            if (lock != null) {
                lock.close();
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
            release(lock);
        }
    }
}
