package blackbox.schemas.folder;

import blackbox.schemas.RunId;
import blackbox.schemas.table.EventsTable;
import java.nio.file.Path;

/// The layout of a data folder: the folders and files at fixed places in it. Modules name the files inside
/// their own folders themselves. Names only: whether something exists, and who may write it, is each module's
/// own business.
///
/// @param root the folder, as it was given
public record DataFolder(Path root) {

    /// In the folder of the log of runs: what outside parties state about it.
    public static final String ANCHORS = "anchors";

    /// In a run's folder of replays: its index.
    public static final String INDEX = "index";

    /// In a run's folder of replays: its re-executions that were kept.
    public static final String KEPT = "kept";

    /// In the folder of keys: the public key of the log of runs.
    public static final String LOG_KEY = "log.pub";

    /// In the folder of keys: the key for payloads.
    public static final String PAYLOAD_KEY = "payload.key";

    /// In a folder that one process at a time changes: its lock.
    public static final String LOCK = "lock";

    /// The same folder, whatever the process's working directory becomes.
    public DataFolder absolute() {
        return new DataFolder(root.toAbsolutePath().normalize());
    }

    /// Signing keys (`*.key`, mode 0600) and the public keys that verification trusts (`*.pub`).
    public Path keys() {
        return root.resolve("keys");
    }

    /// The public key of the log of runs.
    public Path logKey() {
        return keys().resolve(LOG_KEY);
    }

    /// The key that wraps those of the runs' payloads, unless the environment names another file.
    public Path payloadKey() {
        return keys().resolve(PAYLOAD_KEY);
    }

    /// Which key that seals data files the log of runs vouches for, so that not every run reads the whole log.
    public Path ingestCertified() {
        return keys().resolve("ingest.certified");
    }

    /// The key whose revocation has begun and is not complete.
    public Path revoking() {
        return keys().resolve("revoking");
    }

    /// The keys of the runs' payloads, each wrapped with the data folder's: `schemas/payload.md`.
    public Path runKeys() {
        return keys().resolve("runs");
    }

    /// The trust policy (C2SP tlog-policy), if there is one.
    public Path policy() {
        return keys().resolve("policy");
    }

    /// The certificates (`*.pem`) of the time authorities that are trusted.
    public Path timeAuthorities() {
        return keys().resolve("time");
    }

    /// The time-stamping authorities that are asked about the log of runs.
    public Path anchorsConf() {
        return keys().resolve("anchors.conf");
    }

    /// The token that a client of the HTTP service must present.
    public Path apiToken() {
        return root.resolve("api-token");
    }

    /// The tokens that were made for others, without the tokens.
    public Path apiTokens() {
        return root.resolve("api-tokens.json");
    }

    /// Sealed batches that the broker has not acknowledged, one folder per run.
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

    /// What this host keeps about a run that it recorded: the lock of its recorder, and a cache.
    public Path runs(RunId run) {
        return runs().resolve(run.value());
    }

    /// The lock that is held while a run's recorder is alive.
    public Path runLock(RunId run) {
        return runs(run).resolve(LOCK);
    }

    /// While a run is recorded: a link to where its recorder takes commands.
    public Path control(RunId run) {
        return runs(run).resolve("control");
    }

    /// A cache of what was computed from a run's leaves; may be deleted.
    public Path treeCache(RunId run) {
        return runs(run).resolve("log");
    }

    /// One folder per run with what is stored beside its events: `schemas/capture.md`.
    public Path captures() {
        return root.resolve("captures");
    }

    /// The files that are stored beside a run's events.
    public Path captures(RunId run) {
        return captures().resolve(run.value());
    }

    /// What `blackbox import` took: runs that others recorded, and what they were started from. Nothing here
    /// is ever used to record.
    public Path imported() {
        return root.resolve("imported");
    }

    /// A folder for each imported run.
    public Path importedRuns() {
        return imported().resolve("runs");
    }

    /// An imported run.
    public Path importedRun(RunId run) {
        return importedRuns().resolve(run.value());
    }

    /// The evidence of an imported run, a bundle as it came.
    public Path importedEvidence(RunId run) {
        return importedRun(run).resolve("evidence");
    }

    /// The public keys (`*.pub`) that are trusted for an imported run, beside those of [#keys].
    public Path importedTrust(RunId run) {
        return importedRun(run).resolve("trusted");
    }

    /// Imported images, each in a folder named by its digest.
    public Path importedImages() {
        return imported().resolve("images");
    }

    /// Imported builds of QEMU, each in a folder named by its digest.
    public Path importedQemu() {
        return imported().resolve("qemu");
    }

    /// Imported warm snapshots, each in a folder named by its digest.
    public Path importedSnapshots() {
        return imported().resolve("snapshots");
    }

    /// Batches that failed their check, and damaged spool segments, one folder per run.
    public Path quarantine() {
        return root.resolve("quarantine");
    }

    /// The refused batches and damaged spool segments of a run.
    public Path quarantine(RunId run) {
        return quarantine().resolve(run.value());
    }

    /// The log of runs, and what outside parties state about it.
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

    /// The workspace that came back from a run.
    public Path workspaces(RunId run) {
        return workspaces().resolve(run.value());
    }

    /// The Iceberg catalog.
    public Path catalog() {
        return root.resolve("catalog.db");
    }

    /// All tables; the query engine never gets anything outside it.
    public Path warehouse() {
        return root.resolve("warehouse");
    }

    /// The table of events.
    public Path table() {
        return warehouse().resolve(EventsTable.NAMESPACE).resolve(EventsTable.NAME);
    }

    /// A run's data files and their seals.
    public Path dataFiles(RunId run) {
        return warehouse().resolve(EventsTable.dataFolder(run));
    }

    /// Data files being written; whatever is found here when the table is opened is debris.
    public Path staging() {
        return table().resolve("staging");
    }

    /// Alerts that a webhook has not taken yet, one file each.
    public Path alerts() {
        return root.resolve("alerts");
    }

    /// With which messages to webhooks are signed, mode 0600.
    public Path webhookSecret() {
        return keys().resolve("webhook.secret");
    }

    /// The lock of the process that writes the table alone, or of those that share it as a group.
    public Path ingestLock() {
        return root.resolve("ingest.lock");
    }

    /// The lock that is held for a moment by a process that begins to write the table, or clears up after
    /// another.
    public Path ingestOpening() {
        return root.resolve("ingest.opening.lock");
    }

    /// The lock of the one process that runs broker and ingest.
    public Path pipelineLock() {
        return root.resolve("pipeline.lock");
    }

    /// How that process's broker is reached: settings of Kafka's clients, mode 0600, for they contain what its
    /// embedded broker asks for.
    public Path pipelineAccess() {
        return root.resolve("pipeline.properties");
    }

    /// The embedded broker's data.
    public Path kafka() {
        return root.resolve("kafka");
    }

    /// One folder per run with the verdicts on its replays.
    public Path replays() {
        return root.resolve("replays");
    }

    /// The verdicts on a run's replays.
    public Path replays(RunId run) {
        return replays().resolve(run.value());
    }

    /// The index for seeking in a run, a cache; may be deleted.
    public Path index(RunId run) {
        return replays(run).resolve(INDEX);
    }

    /// Re-executions of a run that was recorded live that can be replayed exactly, one folder each:
    /// `schemas/replay.md`.
    public Path kept(RunId run) {
        return replays(run).resolve(KEPT);
    }

    /// The guest images, one folder each.
    public Path images() {
        return root.resolve("images");
    }

    /// Images that newer ones of their names have replaced, each in a folder named by its digest.
    public Path replacedImages() {
        return images().resolve(".replaced");
    }

    /// The lock of the one process that builds an image.
    public Path imagesLock() {
        return images().resolve(LOCK);
    }

    /// Every file that was ever used to build an image, and imported locks.
    public Path archive() {
        return root.resolve("archive");
    }

    /// The archived files, each named by its SHA-256.
    public Path archivedObjects() {
        return archive().resolve("sha256");
    }

    /// Which archived file has which SHA-512: a file for each, named by that, with the SHA-256 in it.
    public Path archivedBySha512() {
        return archive().resolve("sha512");
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

    /// Cached facts about this host, and temporary folders.
    public Path cache() {
        return root.resolve("cache");
    }

    /// Where disks are assembled for inspection.
    public Path scratch() {
        return root.resolve("scratch");
    }
}
