package blackbox.evidence.bundle;

import blackbox.evidence.EvidenceException;
import blackbox.evidence.attest.DsseEnvelope;
import blackbox.evidence.attest.InTotoStatement;
import blackbox.evidence.log.NoteSigner;
import blackbox.evidence.log.TilePath;
import blackbox.evidence.storage.FileStore;
import blackbox.evidence.storage.StoredFile;
import blackbox.evidence.store.DataFile;
import blackbox.evidence.store.FileDigest;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.TransparencyLogReader;
import blackbox.files.BoundedFiles;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import java.io.BufferedOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/// Makes the bundle of one run from a data folder.
///
/// It contains the run's sealed data files and its spool, its refused batches, the whole log of runs with its
/// anchors, public keys, trust policy and time authorities. No private key, and nothing of other runs except
/// their entries in the log of runs.
public final class BundleWriter {

    private static final int COPY_BYTES = 1 << 18;
    private static final String RUN_IN_README = "RUN-ID";

    private final Recordings recordings;
    private final RunId run;
    private final DataFolder folder;
    private final Path staging;
    private final SortedMap<String, Path> files = new TreeMap<>();

    private BundleWriter(Recordings recordings, RunId run, Path staging) {
        this.recordings = recordings;
        this.run = run;
        this.folder = new DataFolder(recordings.data());
        this.staging = staging;
    }

    /// Writes the bundle of `run` to `out`: a ZIP, or a folder if `out` is an empty folder. That of an imported run
    /// is the one that it came with, and is not signed again.
    ///
    /// @param signer signs the statement
    /// @return how many files it has
    /// @throws EvidenceException when the run is still being recorded, or `out` exists already
    public static int write(Recordings recordings, RunId run, NoteSigner signer, Path out)
            throws IOException, EvidenceException {
        return write(recordings, run, signer, Map.of(), out);
    }

    /// The same with further files for people, which the statement covers, too.
    ///
    /// @param pages their content by name
    public static int write(Recordings recordings, RunId run, NoteSigner signer, Map<String, byte[]> pages, Path out)
            throws IOException, EvidenceException {
        if (recordings.isLive(run)) {
            throw new EvidenceException("run " + run + " is still being recorded; export it once it is closed");
        }
        Path staging = Files.createTempDirectory("blackbox-bundle-");
        try {
            var writer = new BundleWriter(recordings, run, staging);
            writer.gather();
            if (!recordings.isImported(run)) {
                for (Map.Entry<String, byte[]> page : pages.entrySet()) {
                    writer.stage(page.getKey(), page.getValue());
                }
                writer.sign(signer);
            }
            writer.put(out);
            return writer.files.size();
        } finally {
            BundleFolder.delete(staging);
        }
    }

    /// Writes what a bundle of `run` has, as a ZIP, without a statement: for whoever gets it from this service, and so
    /// need not be told who gathered it. That of an imported run has the statement that it came with.
    ///
    /// @param bytesMax of all files together; if they have more, nothing is written
    /// @return how many they have
    /// @throws java.nio.file.NoSuchFileException when ingest has meanwhile replaced a file
    public static long writeUnstated(Recordings recordings, RunId run, long bytesMax, Path out)
            throws IOException, EvidenceException {
        Path staging = Files.createTempDirectory("blackbox-bundle-");
        try {
            var writer = new BundleWriter(recordings, run, staging);
            writer.gather();
            long bytes = 0;
            for (Path file : writer.files.values()) {
                bytes += Files.size(file);
            }
            if (bytes <= bytesMax) {
                writer.put(out);
            }
            return bytes;
        } finally {
            BundleFolder.delete(staging);
        }
    }

    /// Gathers the files: of an imported run with its statement, else without one.
    private void gather() throws IOException, EvidenceException {
        if (recordings.isImported(run)) {
            takeAsItCame();
        } else {
            collect();
        }
    }

    /// An imported run's bundle, signed by whoever recorded it.
    private void takeAsItCame() throws IOException, EvidenceException {
        try {
            files.putAll(BundleFolder.files(recordings.holding(run).data()));
        } catch (MalformedBundleException e) {
            throw new EvidenceException("what was imported of run " + run + " was changed: " + e.getMessage());
        }
    }

    private void collect() throws IOException, EvidenceException {
        for (DataFile file : recordings.dataFiles(run)) {
            take(file.store(), file.key());
            take(file.store(), file.sealKey());
        }
        takeAll(recordings.spoolFolder(run), "");
        if (files.isEmpty()) {
            throw new EvidenceException("there is nothing to export of run " + run + "");
        }
        takeAll(recordings.quarantineFolder(run), "");
        stageLog();
        takeAll(recordings.keys(), ".pub");
        if (Files.isRegularFile(folder.policy())) {
            take(folder.policy());
        }
        takeAll(folder.timeAuthorities(), "");
        stage(BundleLayout.COMPLETENESS, CompletenessReport.of(recordings, run, CompletenessReport.VERSION));
        String readme = new String(resource(BundleLayout.README), StandardCharsets.UTF_8);
        stage(BundleLayout.README, readme.replace(RUN_IN_README, run.value()).getBytes(StandardCharsets.UTF_8));
        for (String page : BundleLayout.PAGES) {
            stage(BundleLayout.FORMATS + page, resource(BundleLayout.FORMATS + page));
        }
        for (Map.Entry<String, byte[]> table : FormatTables.all().entrySet()) {
            stage(BundleLayout.FORMATS + table.getKey(), table.getValue());
        }
    }

    /// A copy of the log of runs in its present state: it may grow meanwhile, so its checkpoint is read
    /// before its tiles.
    private void stageLog() throws IOException {
        Path log = recordings.log();
        Path checkpoint = log.resolve(TilePath.CHECKPOINT);
        if (!Files.exists(checkpoint)) {
            return;
        }
        byte[] head = BoundedFiles.read(checkpoint, TransparencyLogReader.NOTE_BYTES_MAX);
        stage(name(checkpoint), head);
        takeAll(log.resolve(DataFolder.ANCHORS), "");
        var reader = new TransparencyLogReader(log);
        for (TilePath tile : tilesOf(head, reader.anchorFiles())) {
            TilePath there = reader.read(tile) == null ? tile.full() : tile; // the log has grown over it
            byte[] octets = reader.read(there);
            if (octets != null) { // else the verifier reports it
                stage(name(log.resolve(there.path())), octets);
            }
        }
    }

    /// The tiles of the log at its checkpoint and at each anchored size, to which a verifier computes roots. Partial
    /// tiles of other sizes would be most of the bundle.
    private static Set<TilePath> tilesOf(byte[] head, List<TransparencyLogReader.AnchorFile> anchors)
            throws IOException {
        var tiles = new LinkedHashSet<TilePath>();
        var notes = new ArrayList<>(List.of(head));
        for (TransparencyLogReader.AnchorFile anchor : anchors) {
            notes.add(anchor.note());
        }
        for (byte[] note : notes) {
            TransparencyLogReader.Head at = TransparencyLogReader.Head.parse(note);
            if (at != null) {
                tiles.addAll(TilePath.grown(0, at.checkpoint().size()));
            }
        }
        return tiles;
    }

    /// Adds a file of the warehouse; from a remote store, by way of a local copy.
    private void take(FileStore store, String key) throws IOException {
        String name = name(folder.warehouse().resolve(key));
        Path local = store.local(key);
        if (local != null) {
            put(name, local);
            return;
        }
        Path copy = staging.resolve(name);
        Files.createDirectories(copy.resolveSibling("."));
        try (StoredFile file = store.open(key);
                FileChannel out = FileChannel.open(copy, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            ByteBuffer buffer = ByteBuffer.allocate(COPY_BYTES);
            for (long at = 0; at < file.size(); at += buffer.limit()) {
                buffer.clear().limit((int) Math.min(COPY_BYTES, file.size() - at));
                file.read(at, buffer);
                buffer.flip();
                while (buffer.hasRemaining()) {
                    out.write(buffer);
                }
            }
        }
        put(name, copy);
    }

    private void takeAll(Path folder, String suffix) throws IOException {
        for (Path entry : Recordings.entries(folder)) {
            if (Files.isRegularFile(entry) && entry.toString().endsWith(suffix)) {
                take(entry);
            }
        }
    }

    private void take(Path file) {
        put(name(file), file);
    }

    private String name(Path file) {
        return recordings.data().relativize(file).toString().replace('\\', '/');
    }

    private void stage(String name, byte[] octets) throws IOException {
        Path file = staging.resolve(name);
        Files.createDirectories(file.resolveSibling("."));
        put(name, Files.write(file, octets));
    }

    private void put(String name, Path file) {
        if (BundleLayout.isName(name)) { // others are not ours
            files.put(name, file);
        }
    }

    private static byte[] resource(String name) throws IOException {
        try (InputStream in = BundleWriter.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new FileNotFoundException("this build lacks the page " + name);
            }
            return in.readAllBytes();
        }
    }

    private void sign(NoteSigner signer) throws IOException {
        var subjects = new TreeMap<String, Hash>();
        for (var file : files.entrySet()) {
            subjects.put(file.getKey(), FileDigest.sha256(file.getValue()));
        }
        var statement = new InTotoStatement(
                subjects, InTotoStatement.BUNDLE_V1, BundleLayout.predicate(BundleLayout.VERSION, run.value()));
        DsseEnvelope envelope = DsseEnvelope.sign(InTotoStatement.PAYLOAD_TYPE, statement.toJson(), List.of(signer));
        stage(BundleLayout.STATEMENT, envelope.toJson());
    }

    private void put(Path out) throws IOException, EvidenceException {
        if (Files.isDirectory(out)) {
            if (!Recordings.entries(out).isEmpty()) {
                throw new EvidenceException("the folder " + out + " is not empty");
            }
            for (var file : files.entrySet()) {
                Path target = out.resolve(file.getKey());
                Files.createDirectories(target.resolveSibling("."));
                Files.copy(file.getValue(), target);
            }
            return;
        }
        Path unfinished = out.resolveSibling(out.getFileName() + ".unfinished");
        try (OutputStream zip = new BufferedOutputStream(
                Files.newOutputStream(unfinished, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING))) {
            BundleZip.write(files, zip);
        } catch (IOException | RuntimeException e) {
            Files.deleteIfExists(unfinished);
            throw e;
        }
        Files.move(unfinished, out, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
}
