package blackbox.schemas.folder;

import blackbox.schemas.RunId;
import blackbox.schemas.table.EventsTable;
import java.nio.file.Path;

/// What lies where in a data folder; every path below it is named here and nowhere else. Names only: whether
/// something is there, and who may write it, is each module's own business.
///
/// @param root the folder, as it was given
public record DataFolder(Path root) {

    /// In the folder of the log of runs: what others say of it.
    public static final String ANCHORS = "anchors";

    /// In a run's folder of replays: its index.
    public static final String INDEX = "index";

    /// The same folder, whatever the process's working directory becomes.
    public DataFolder absolute() {
        return new DataFolder(root.toAbsolutePath().normalize());
    }

    /// Signing keys (`*.key`, mode 0600) and the public keys that verification trusts (`*.pub`).
    public Path keys() {
        return root.resolve("keys");
    }

    /// The trust policy (C2SP tlog-policy), where there is one.
    public Path policy() {
        return keys().resolve("policy");
    }

    /// The certificates (`*.pem`) of the time authorities that are trusted.
    public Path timeAuthorities() {
        return keys().resolve("time");
    }

    /// What a client of the HTTP service has to show.
    public Path apiToken() {
        return root.resolve("api-token");
    }

    /// Sealed batches that the broker has not acknowledged, a folder a run.
    public Path spool() {
        return root.resolve("spool");
    }

    /// The folder of a run's spool segments.
    public Path spool(RunId run) {
        return spool().resolve(run.value());
    }

    /// A folder for each run that this host recorded.
    public Path runs() {
        return root.resolve("runs");
    }

    /// What this host has of a run that it recorded: the lock of its recorder, and a cache.
    public Path runs(RunId run) {
        return runs().resolve(run.value());
    }

    /// The lock that says that a run's recorder lives.
    public Path runLock(RunId run) {
        return runs(run).resolve("lock");
    }

    /// What was computed from a run's leaves and may be thrown away.
    public Path treeCache(RunId run) {
        return runs(run).resolve("log");
    }

    /// A folder a run with what is kept beside its events: `schemas/capture.md`.
    public Path captures() {
        return root.resolve("captures");
    }

    /// The files that are kept beside a run's events.
    public Path captures(RunId run) {
        return captures().resolve(run.value());
    }

    /// Batches that failed their check, and damaged spool segments, a folder a run.
    public Path quarantine() {
        return root.resolve("quarantine");
    }

    /// What was refused of a run.
    public Path quarantine(RunId run) {
        return quarantine().resolve(run.value());
    }

    /// The log of runs, and what outside parties say about it.
    public Path log() {
        return root.resolve("log");
    }

    /// The record and the key of this folder's witness for others' logs.
    public Path witness() {
        return root.resolve("witness");
    }

    /// Workspaces that came back from runs.
    public Path workspaces() {
        return root.resolve("workspaces");
    }

    /// The Iceberg catalog.
    public Path catalog() {
        return root.resolve("catalog.db");
    }

    /// Every table; nothing outside it is ever given to the query engine.
    public Path warehouse() {
        return root.resolve("warehouse");
    }

    /// The table of events.
    public Path table() {
        return warehouse().resolve(EventsTable.NAMESPACE).resolve(EventsTable.NAME);
    }

    /// All data files of the table, a folder a run.
    public Path dataFiles() {
        return warehouse().resolve(EventsTable.DATA_FOLDER);
    }

    /// A run's data files and their seals.
    public Path dataFiles(RunId run) {
        return warehouse().resolve(EventsTable.dataFolder(run));
    }

    /// Data files being written; whatever is here when the table is opened is debris.
    public Path staging() {
        return table().resolve("staging");
    }

    /// The lock of the one process that writes the table.
    public Path ingestLock() {
        return root.resolve("ingest.lock");
    }

    /// The lock of the one process that runs broker and ingest; it says where that broker listens.
    public Path pipelineLock() {
        return root.resolve("pipeline.lock");
    }

    /// What the embedded broker keeps.
    public Path kafka() {
        return root.resolve("kafka");
    }

    /// A folder a run with the verdicts on its replays.
    public Path replays() {
        return root.resolve("replays");
    }

    /// The verdicts on a run's replays.
    public Path replays(RunId run) {
        return replays().resolve(run.value());
    }

    /// What was found out for seeking in a run and may be thrown away.
    public Path index(RunId run) {
        return replays(run).resolve(INDEX);
    }

    /// A folder an image.
    public Path images() {
        return root.resolve("images");
    }

    /// Every file that ever went into an image, and imported locks.
    public Path archive() {
        return root.resolve("archive");
    }

    /// The archived files, each called by its SHA-256.
    public Path archivedObjects() {
        return archive().resolve("sha256");
    }

    /// Imported locks.
    public Path locks() {
        return archive().resolve("locks");
    }

    /// Warm snapshots.
    public Path snapshots() {
        return root.resolve("snapshots");
    }

    /// A folder for each machine that runs.
    public Path machines() {
        return root.resolve("vm");
    }

    /// Unpacked builds of QEMU.
    public Path qemu() {
        return root.resolve("qemu");
    }

    /// What was found out about this host, and folders for what is made in passing.
    public Path cache() {
        return root.resolve("cache");
    }

    /// Where disks are put together to be looked at.
    public Path scratch() {
        return root.resolve("scratch");
    }
}
