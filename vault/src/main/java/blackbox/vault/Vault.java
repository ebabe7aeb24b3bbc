package blackbox.vault;

import blackbox.files.AtomicFiles;
import blackbox.files.Folders;
import blackbox.files.ProcessLock;
import blackbox.schemas.Progress;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.CaptureName;
import blackbox.schemas.folder.DataFolder;
import blackbox.vault.VaultException.Code;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The files beside the events of a data folder's runs. While a run is recorded they are as QEMU and the
/// recorder write them; [#encrypt] then encrypts those that may hold secrets ([CaptureName#SECRET]), and
/// readers need not know which form a file has. Safe to use from several threads; one at a time encrypts or
/// shreds a run.
public final class Vault {

    /// What an encrypted file's name ends with.
    public static final String SUFFIX = ".enc";

    private static final String STAGED = ".new";
    private static final String LOCK = "payloads.lock";
    private static final long SPARE_BYTES = 64L << 20;
    private static final long SAY_EVERY_BYTES = 1L << 30;

    private final DataFolder data;
    private final RunKeys keys;
    private final SecureRandom random;

    /// @param key opens the data folder's key when it is first needed
    /// @param random for keys and nonces
    public Vault(DataFolder data, PayloadKey.Source key, SecureRandom random) {
        this.data = data;
        this.keys = new RunKeys(data.runKeys(), key, random);
        this.random = random;
    }

    /// Opens the data folder's key, and makes it if there is none, so that it is there when it is needed.
    ///
    /// @throws IOException when it cannot be opened or made
    public void prepare() throws IOException {
        PayloadKey unused = keys.dataKey();
    }

    /// Where a file of a run is, or would be: encrypted, or as it was written.
    public Path file(RunId run, String name) {
        Path plain = data.captures(run).resolve(name);
        Path encrypted = encrypted(plain);
        return Files.exists(encrypted) || !Files.exists(plain) ? encrypted : plain;
    }

    private static Path encrypted(Path plain) {
        return plain.resolveSibling(plain.getFileName() + SUFFIX);
    }

    /// Whether a run has a file of this name.
    public boolean exists(RunId run, String name) {
        return Files.isRegularFile(file(run, name));
    }

    /// How many octets the file holds, by its length.
    ///
    /// @throws IOException as [#open]
    public long size(RunId run, String name) throws IOException {
        try (OpenPayload payload = open(run, name)) {
            return payload.size();
        }
    }

    /// The file as a stream, which its reader closes.
    ///
    /// @throws IOException as [#open], also while it is read
    public InputStream stream(RunId run, String name) throws IOException {
        return open(run, name).stream();
    }

    /// Opens a file of a run, encrypted or not.
    ///
    /// @throws NoSuchFileException when the run has none of this name
    /// @throws VaultException `SHREDDED`, `NO_KEY`, `WRONG_KEY`, `ALTERED`, `CUT`
    public OpenPayload open(RunId run, String name) throws IOException {
        Path plain = data.captures(run).resolve(name);
        // A file that is being encrypted is renamed before the plain one goes: one of the three is there.
        FileChannel channel = tryOpen(encrypted(plain));
        if (channel == null) {
            FileChannel unencrypted = tryOpen(plain);
            if (unencrypted != null) {
                return new PlainPayload(unencrypted);
            }
            channel = tryOpen(encrypted(plain));
        }
        if (channel == null) {
            ShredMark mark = shredded(run);
            throw mark == null
                    ? new NoSuchFileException(encrypted(plain).toString())
                    : new VaultException(Code.SHREDDED, mark.text());
        }
        return decrypting(channel, run, name);
    }

    private OpenPayload decrypting(FileChannel channel, RunId run, String name) throws IOException {
        PayloadKey key;
        try {
            key = keys.existing(run);
        } catch (IOException e) {
            channel.close();
            ShredMark mark = shredded(run);
            throw mark == null ? e : new VaultException(Code.SHREDDED, mark.text(), e);
        }
        String what = encrypted(data.captures(run).resolve(name)).toString();
        try {
            return EncryptedPayload.open(
                    channel, what, key, PayloadForm.PAYLOAD, PayloadForm.PAYLOAD.associated(run, name));
        } finally {
            key.destroy();
        }
    }

    private static @Nullable FileChannel tryOpen(Path file) throws IOException {
        try {
            return FileChannel.open(file);
        } catch (NoSuchFileException _) {
            return null;
        }
    }

    /// The files of a run that may hold secrets and are not encrypted.
    public List<String> unencrypted(RunId run) {
        Path folder = data.captures(run);
        return CaptureName.SECRET.stream()
                .map(CaptureName::text)
                .filter(name -> Files.isRegularFile(folder.resolve(name), LinkOption.NOFOLLOW_LINKS))
                .toList();
    }

    /// Encrypts what is not encrypted yet. Nobody may write to the run's files anymore. When it fails, or the
    /// process dies, each file is either as it was or encrypted, and another call continues from there.
    ///
    /// @param progress receives how far it is, if it takes long
    /// @return how many octets were encrypted
    /// @throws VaultException `DISK_FULL`; `SHREDDED`; `WRONG_KEY`
    public long encrypt(RunId run, Progress progress) throws IOException {
        try (ProcessLock _ = alone(run)) {
            refuseShredded(run);
            Path folder = data.captures(run);
            clearStaged(folder);
            long bytes = 0;
            for (String name : unencrypted(run)) {
                bytes += encrypt(run, name, folder.resolve(name), progress);
            }
            return bytes;
        }
    }

    /// Keeps others from encrypting or shredding the run, in any process.
    private ProcessLock alone(RunId run) throws IOException {
        Folders.create(data.runs(run));
        return ProcessLock.take(data.runs(run).resolve(LOCK));
    }

    private void refuseShredded(RunId run) throws IOException {
        ShredMark mark = shredded(run);
        if (mark != null) {
            throw new VaultException(Code.SHREDDED, mark.text());
        }
    }

    /// Stores a new file of a run, encrypted from the first; durable when this returns.
    ///
    /// @throws VaultException `SHREDDED`; `WRONG_KEY`
    public void store(RunId run, String name, byte[] octets) throws IOException {
        store(run, name, new ByteArrayInputStream(octets));
    }

    /// The same, of whatever length: everything that `in` has, which is not closed. When it fails, there is
    /// no file.
    public void store(RunId run, String name, InputStream in) throws IOException {
        try (ProcessLock _ = alone(run)) {
            refuseShredded(run);
            Folders.create(data.captures(run));
            encrypt(run, name, data.captures(run).resolve(name), in, _ -> {});
        }
    }

    private long encrypt(RunId run, String name, Path plain, Progress progress) throws IOException {
        Path folder = data.captures(run);
        long bytes = Files.size(plain);
        if (Files.getFileStore(folder).getUsableSpace() < bytes + bytes / 1_000 + SPARE_BYTES) {
            throw new VaultException(
                    Code.DISK_FULL,
                    "there is no room to encrypt " + plain + " (" + bytes + " octets): it stays readable to whoever can"
                            + " read the data folder; the next recording tries again");
        }
        try (InputStream in = Files.newInputStream(plain)) {
            encrypt(run, name, plain, in, new Teller(name, bytes, progress)::at);
        }
        Files.delete(plain);
        Folders.sync(folder);
        return bytes;
    }

    private void encrypt(RunId run, String name, Path plain, InputStream in, LongConsumer written) throws IOException {
        Path encrypted = encrypted(plain);
        Path staged = plain.resolveSibling("." + encrypted.getFileName() + STAGED);
        byte[] associated = PayloadForm.PAYLOAD.associated(run, name);
        PayloadKey key = keys.existingOrNew(run);
        try {
            new PayloadWriter(random).write(in, staged, key, PayloadForm.PAYLOAD, associated, written);
        } finally {
            key.destroy();
        }
        AtomicFiles.rename(staged, encrypted);
        Folders.sync(data.captures(run));
    }

    /// Says how far it is, about once a gibibyte. Owned by one thread.
    private static final class Teller {
        private final String name;
        private final long bytes;
        private final Progress progress;
        private long said;

        Teller(String name, long bytes, Progress progress) {
            this.name = name;
            this.bytes = bytes;
            this.progress = progress;
        }

        void at(long read) {
            if (read - said >= SAY_EVERY_BYTES) {
                said = read;
                progress.say("encrypting the captured file " + name + ": " + 100 * read / bytes + " %");
            }
        }
    }

    private static void clearStaged(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return;
        }
        for (Path file : files(folder)) {
            String name = String.valueOf(file.getFileName());
            if (name.startsWith(".") && name.endsWith(SUFFIX + STAGED)) {
                Files.delete(file);
            }
        }
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.toList();
        }
    }

    /// When and why a run's payloads were shredded, or null if they were not.
    public @Nullable ShredMark shredded(RunId run) throws IOException {
        return ShredMark.read(data.captures(run));
    }

    /// What [#shred] did.
    ///
    /// @param mark the first one, if they were shredded before
    /// @param files which were deleted, by name
    /// @param bytes of these
    public record Shredded(ShredMark mark, List<String> files, long bytes) {
        public Shredded {
            files = List.copyOf(files);
        }
    }

    /// Destroys the run's key, and then deletes its files. The run's recorder must have ended. Once the key
    /// is gone, copies of encrypted files, such as in a backup, cannot be read either, unless they have the
    /// key, too.
    ///
    /// A mark with the reason stays, and is written first: when this fails or the process dies, the run
    /// counts as shredded, and another call continues from there.
    public Shredded shred(ShredMark wanted) throws IOException {
        try (ProcessLock _ = alone(wanted.run())) {
            return shredAlone(wanted);
        }
    }

    private Shredded shredAlone(ShredMark wanted) throws IOException {
        Path folder = data.captures(wanted.run());
        ShredMark before = shredded(wanted.run());
        ShredMark mark = before == null ? wanted : before;
        if (before == null) {
            mark.write(folder);
        }
        keys.destroy(wanted.run());
        var deleted = new ArrayList<String>();
        long bytes = 0;
        for (Path file : files(folder)) {
            String name = String.valueOf(file.getFileName());
            if (!name.equals(ShredMark.NAME) && Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
                bytes += Files.size(file);
                deleted.add(name);
                Files.delete(file);
            }
        }
        Folders.sync(folder);
        return new Shredded(mark, deleted, bytes);
    }
}
