package blackbox.node.travel;

import blackbox.evidence.EvidenceException;
import blackbox.evidence.bundle.BundleWriter;
import blackbox.evidence.sign.CryptoProvider;
import blackbox.evidence.store.Recordings;
import blackbox.files.AtomicFiles;
import blackbox.node.data.LocalTrust;
import blackbox.node.travel.TravelException.Code;
import blackbox.recorder.RecorderException;
import blackbox.recorder.keys.KeyAccess;
import blackbox.recorder.keys.LogKey;
import blackbox.recorder.keys.LogKeys;
import blackbox.recorder.keys.PayloadKeyFile;
import blackbox.replay.ReplayException;
import blackbox.replay.capture.Payload;
import blackbox.schemas.Hash;
import blackbox.schemas.Progress;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.CaptureName;
import blackbox.schemas.folder.DataFolder;
import blackbox.vault.age.AgeLock;
import blackbox.vault.age.AgeOutput;
import blackbox.vault.parcel.ParcelManifest;
import blackbox.vault.parcel.ParcelPart;
import blackbox.vault.parcel.ParcelWriter;
import blackbox.vault.stream.ReadAheadInput;
import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import blackbox.vm.carry.StartFiles;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Writes one run, with all that a replay of it needs, to one file. What is read is checked against what the
/// run sealed of it. The file is there completely, or not at all, and readable by its owner alone. Used by
/// one thread.
public final class RunExport {

    private static final int BUFFER_BYTES = 1 << 18;
    private static final String EVIDENCE = "evidence";

    /// Threads that compress, beside this one and the two that read and write.
    private static final int WORKERS = Math.clamp(Runtime.getRuntime().availableProcessors() - 1, 1, 4);

    private final DataFolder data;
    private final Progress progress;
    private final Recordings recordings;
    private final List<Source> sources = new ArrayList<>();
    private final List<String> leftOut = new ArrayList<>();

    /// Exports from a data folder.
    public RunExport(DataFolder data, Progress progress) {
        this.data = data;
        this.progress = progress;
        this.recordings = new LocalTrust(data).recordings();
    }

    /// What to write.
    ///
    /// @param file which must not be there yet
    /// @param slim without image, QEMU and snapshot
    /// @param locks what it is encrypted to; empty for a file that everyone who has it can read
    public record Request(RunId run, Path file, boolean slim, List<AgeLock> locks) {
        public Request {
            locks = List.copyOf(locks);
        }
    }

    /// What was written.
    ///
    /// @param bytes the file's length
    /// @param parts what it consists of
    /// @param leftOut what a replay may need and is not in it, in words
    public record Written(
            RunId run, Path file, long bytes, boolean encrypted, List<PartSize> parts, List<String> leftOut) {
        public Written {
            parts = List.copyOf(parts);
            leftOut = List.copyOf(leftOut);
        }
    }

    /// Opens a part's octets.
    @FunctionalInterface
    private interface Opening {
        InputStream open() throws IOException;
    }

    /// A part and where it comes from.
    private record Source(ParcelPart part, String table, Opening opening) {}

    /// Writes the file.
    ///
    /// @throws EvidenceException when the run is still being recorded
    /// @throws ReplayException when what is beside its events was shredded
    public Written write(Request request)
            throws IOException, TravelException, EvidenceException, ReplayException, RecorderException, VmException {
        RunId run = request.run();
        if (Files.exists(request.file(), LinkOption.NOFOLLOW_LINKS)) {
            throw new TravelException(
                    Code.BAD_INPUT, request.file() + " already exists; choose another file with --out");
        }
        if (recordings.isLive(run)) {
            throw new EvidenceException("run " + run + " is still being recorded; export it once it is closed");
        }
        Payload.refuseShredded(recordings, run);
        RunSeals seals = RunSeals.of(recordings, run);
        try (var scratch = ScratchFolder.ofThisProcess(data.cache(), ".export-")) {
            progress.say("collecting the evidence of run " + run);
            evidence(run, scratch.path().resolve("bundle.zip"));
            captures(run, seals);
            started(request, seals);
            return writeFile(request);
        }
    }

    private void evidence(RunId run, Path bundle) throws IOException, EvidenceException, RecorderException {
        try (LogKey key = LogKeys.loadOrCreate(data.keys(), KeyAccess.system())) {
            int unused = BundleWriter.write(recordings, run, key.first(), bundle);
        }
        add(ParcelPart.file(RunImport.BUNDLE, Files.size(bundle)), EVIDENCE, () -> Files.newInputStream(bundle));
    }

    private void add(ParcelPart part, String table, Opening opening) {
        sources.add(new Source(part, table, opening));
    }

    private void captures(RunId run, RunSeals seals) throws IOException {
        var vault = PayloadKeyFile.vault(data);
        for (CaptureName name : CaptureName.values()) {
            if (!vault.exists(run, name.text())) {
                if (seals.captures().containsKey(name.text())) {
                    leftOut.add("the captured file " + name.text() + ", which is not here");
                }
                continue;
            }
            long bytes = seals.bytes(name, vault.size(run, name.text()));
            if (bytes < 0) {
                leftOut.add("the captured file " + name.text() + ", of which the run sealed nothing");
                continue;
            }
            add(
                    ParcelPart.file(RunImport.CAPTURE + name.text(), bytes),
                    name.text(),
                    () -> new SealedInput(vault.stream(run, name.text()), bytes, seals.of(name)));
        }
    }

    private void started(Request request, RunSeals seals) throws VmException, IOException {
        started(request, StartFiles.IMAGE, seals.start().image());
        started(request, StartFiles.QEMU, seals.start().qemu().digest());
        Hash snapshot = seals.start().snapshot();
        if (snapshot != null && RunImport.needsSnapshot(seals.start())) {
            started(request, StartFiles.SNAPSHOT, snapshot);
        }
    }

    private void started(Request request, StartFiles what, Hash digest) throws VmException, IOException {
        if (request.slim()) {
            leftOut.add("the " + what.word() + " " + digest + " (--slim)");
            return;
        }
        Path folder = what.folder(data.root(), digest);
        if (folder == null) {
            leftOut.add("the " + what.word() + " " + digest + ", which is not here or was installed by the system");
            return;
        }
        for (Map.Entry<String, Path> each : what.files(folder).entrySet()) {
            add(
                    part(what.word() + "/" + each.getKey(), each.getValue()),
                    what.word(),
                    () -> Files.newInputStream(each.getValue()));
        }
    }

    private static ParcelPart part(String name, Path file) throws IOException {
        if (Files.isSymbolicLink(file)) {
            return new ParcelPart(name, 0, false, Files.readSymbolicLink(file).toString());
        }
        boolean program = Files.getPosixFilePermissions(file).contains(PosixFilePermission.OWNER_EXECUTE);
        return new ParcelPart(name, Files.size(file), program, null);
    }

    private Written writeFile(Request request) throws IOException, TravelException {
        Path file = request.file().toAbsolutePath();
        Path unfinished = file.resolveSibling("." + file.getFileName() + "."
                + ProcessHandle.current().pid() + "-" + Long.toHexString(System.nanoTime()) + ".unfinished");
        boolean whole = false;
        try {
            Map<String, PartSize> sizes = writeTo(unfinished, request);
            AtomicFiles.put(unfinished, file);
            whole = true;
            return new Written(
                    request.run(),
                    request.file(),
                    Files.size(file),
                    !request.locks().isEmpty(),
                    List.copyOf(sizes.values()),
                    leftOut);
        } catch (SealedInput.BrokenSealException e) {
            throw e.why();
        } catch (IllegalArgumentException e) {
            throw new TravelException(Code.BAD_INPUT, "the run cannot be written to one file: " + e.getMessage(), e);
        } finally {
            if (!whole) {
                Files.deleteIfExists(unfinished);
            }
        }
    }

    private Map<String, PartSize> writeTo(Path file, Request request) throws IOException {
        var manifest = new ParcelManifest(
                request.run(), sources.stream().map(Source::part).toList());
        var mode = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
        try (var channel =
                        FileChannel.open(file, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), mode);
                var out = new BufferedOutputStream(Channels.newOutputStream(channel), BUFFER_BYTES)) {
            @Nullable
            AgeOutput age = request.locks().isEmpty()
                    ? null
                    : new AgeOutput(
                            out, request.locks(), CryptoProvider.current().random());
            Map<String, PartSize> sizes = put(age == null ? out : age, manifest);
            if (age != null) {
                age.finish();
            }
            out.flush();
            channel.force(true);
            return sizes;
        }
    }

    private Map<String, PartSize> put(OutputStream out, ParcelManifest manifest) throws IOException {
        var sizes = new LinkedHashMap<String, PartSize>();
        try (var parcel = new ParcelWriter(out, manifest, WORKERS)) {
            for (Source source : sources) {
                if (!sizes.containsKey(source.table())) {
                    progress.say("writing " + source.table());
                }
                long stored;
                try (InputStream in = opened(source)) {
                    stored = parcel.put(in);
                }
                var size = new PartSize(source.table(), 1, source.part().bytes(), stored);
                sizes.merge(source.table(), size, PartSize::plus);
            }
            parcel.finish();
        }
        return sizes;
    }

    private static InputStream opened(Source source) throws IOException {
        if (source.part().link() != null || source.part().bytes() == 0) {
            return InputStream.nullInputStream();
        }
        return ReadAheadInput.of(source.opening().open(), source.part().bytes(), "export-decrypt");
    }
}
