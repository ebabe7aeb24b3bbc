package blackbox.replay.kept;

import blackbox.evidence.store.Recordings;
import blackbox.files.AtomicFiles;
import blackbox.files.Folders;
import blackbox.files.ProcessLock;
import blackbox.recorder.keys.PayloadKeyFile;
import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.replay.capture.CaptureSegment;
import blackbox.replay.capture.Payload;
import blackbox.replay.capture.SealedCapture;
import blackbox.replay.verdict.KeptReference;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import blackbox.schemas.Sha256;
import blackbox.schemas.folder.CaptureName;
import blackbox.schemas.folder.DataFolder;
import blackbox.vault.Vault;
import blackbox.vm.FileFingerprint;
import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The kept re-executions of one run: `replays/<run>/kept/<name>/`, with what may hold secrets in the run's vault as
/// `kept-<name>-<file>`, so that shredding the run takes it along. One exists completely or not at all.
public final class KeptStore {
    /// Where a verdict's document says what was kept.
    static final String DOCUMENT = "execution.json";

    static final String AGREED = "agreed";
    private static final String PREFIX = "kept-";
    private static final String USE = "use";

    /// What the machine starts from: from before the agent, and so in clear.
    private static final List<CaptureName> START = List.of(
            CaptureName.BASE,
            CaptureName.BASE_DIGESTS,
            CaptureName.IMAGE_DIGESTS,
            CaptureName.RAM,
            CaptureName.DEVICES,
            CaptureName.HEADER,
            CaptureName.EVENTS_BEFORE);

    private final Recordings recordings;
    private final RunId run;
    private final Path folder;
    private final Vault vault;

    /// Those of a run.
    public KeptStore(Recordings recordings, RunId run) {
        this.recordings = recordings;
        this.run = run;
        var data = new DataFolder(recordings.data());
        this.folder = data.kept(run);
        this.vault = PayloadKeyFile.vault(data);
    }

    /// The right to add re-executions of a run and to delete them; null while somebody has it, or is landed in one.
    public static @Nullable ProcessLock lockAlone(DataFolder data, RunId run) throws IOException {
        return ProcessLock.tryTake(use(data, run));
    }

    /// The right to be landed in one, which others may share; null while one is added or deleted.
    public static @Nullable ProcessLock lockShared(DataFolder data, RunId run) throws IOException {
        return ProcessLock.tryTakeShared(use(data, run));
    }

    private static Path use(DataFolder data, RunId run) throws IOException {
        Folders.createPrivate(data.kept(run));
        return data.kept(run).resolve(USE);
    }

    /// Where one is.
    public Path folder(KeptReference kept) {
        return folder.resolve(kept.name());
    }

    /// Which of the run's events one has too.
    public AgreedEvents agreed(KeptReference kept) {
        return new AgreedEvents(folder(kept).resolve(AGREED));
    }

    /// Whether it is here; whether it is unchanged is another question.
    public boolean has(KeptReference kept) {
        return Files.isRegularFile(folder(kept).resolve(DOCUMENT));
    }

    /// Reads what it consists of.
    ///
    /// @throws ReplayException `MISSING` when it is not here; `ALTERED` when it is not what the verdict binds
    public KeptExecution open(KeptReference kept) throws ReplayException {
        try {
            byte[] octets = AtomicFiles.onDisk().read(folder(kept).resolve(DOCUMENT), KeptExecution.OCTETS_MAX);
            if (octets == null) {
                throw new ReplayException(Code.MISSING, "the kept execution of run " + run + " is not here" + mend());
            }
            KeptExecution execution = Hash.sha256(octets).equals(kept.sha256()) ? KeptExecution.decode(octets) : null;
            if (execution == null
                    || !execution.run().equals(run)
                    || !FileFingerprint.hash(folder(kept).resolve(AGREED))
                            .equals(execution.agreement().file())) {
                throw new ReplayException(Code.ALTERED, folder(kept) + " is not what the verdict binds" + mend());
            }
            return execution;
        } catch (IOException e) {
            throw new ReplayException(Code.ALTERED, folder(kept) + " cannot be read: " + e.getMessage() + mend(), e);
        }
    }

    private String mend() {
        return "; `blackbox replay " + run + " --keep` executes the run again and keeps that";
    }

    /// The captured files of one; their content is not checked here.
    public Map<String, SealedCapture> captures(KeptReference kept, KeptExecution execution) {
        var captures = new TreeMap<String, SealedCapture>();
        execution.captures().forEach((name, content) -> {
            Payload payload = Payload.of(recordings, run, vaultName(kept.name(), name));
            List<CaptureSegment> whole = content.bytes() == 0
                    ? List.of()
                    : List.of(new CaptureSegment(-1, 0, 0, 0, content.bytes(), content.sha256(), null, null));
            captures.put(name, new SealedCapture(name, payload, whole, null));
        });
        return captures;
    }

    private static String vaultName(String folderName, String capture) {
        return PREFIX + folderName + "-" + capture;
    }

    /// Stores one: durable when this returns. Whoever calls this has [#lockAlone].
    ///
    /// @param name of eight hexadecimal digits, not used before
    /// @param captured the folder in which its machine left its files; they are moved
    /// @param describe makes the description of it from what is known of its files
    KeptReference store(String name, Path captured, Describing describe) throws IOException {
        Folders.createPrivate(folder);
        Path staged = folder.resolve("." + name + ".new");
        Folders.createPrivate(staged);
        try {
            for (CaptureName each : START) {
                Files.move(each.in(captured), each.in(staged));
            }
            var captures = new TreeMap<String, KeptExecution.Content>();
            for (CaptureName each : CaptureName.EXACT) {
                captures.put(each.text(), encrypt(vaultName(name, each.text()), each.in(captured)));
            }
            byte[] document = describe.of(staged.resolve(AGREED), captures).encode();
            AtomicFiles.onDisk().replace(staged.resolve(DOCUMENT), document);
            Folders.sync(staged);
            AtomicFiles.rename(staged, folder.resolve(name));
            Folders.sync(folder);
            return new KeptReference(name, Hash.sha256(document));
        } finally {
            delete(staged);
        }
    }

    /// Describes an execution, and writes the list of agreed events to `agreed`.
    @FunctionalInterface
    interface Describing {
        KeptExecution of(Path agreed, TreeMap<String, KeptExecution.Content> captures) throws IOException;
    }

    private KeptExecution.Content encrypt(String name, Path file) throws IOException {
        MessageDigest digest = Sha256.digest();
        try (InputStream in = new DigestInputStream(Files.newInputStream(file), digest)) {
            vault.store(run, name, in);
        }
        return new KeptExecution.Content(Files.size(file), Hash.copyOf(digest.digest(), 0));
    }

    /// Deletes all but these: they are large. Whoever calls this has [#lockAlone].
    public void retain(Set<KeptReference> kept) throws IOException {
        Set<String> names = kept.stream().map(KeptReference::name).collect(Collectors.toSet());
        for (Path each : Recordings.entries(folder)) {
            boolean wanted = names.contains(String.valueOf(each.getFileName()));
            if (Files.isDirectory(each, LinkOption.NOFOLLOW_LINKS) && !wanted) {
                delete(each);
            }
        }
        for (Path each : Recordings.entries(recordings.captureFolder(run))) {
            String name = String.valueOf(each.getFileName());
            if (name.startsWith(PREFIX) && names.stream().noneMatch(one -> name.startsWith(PREFIX + one + "-"))) {
                Files.delete(each);
            }
        }
    }

    private static void delete(Path tree) throws IOException {
        if (!Files.exists(tree, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        try {
            ScratchFolder.delete(tree);
        } catch (VmException e) {
            throw new IOException(e.getMessage(), e);
        }
    }
}
