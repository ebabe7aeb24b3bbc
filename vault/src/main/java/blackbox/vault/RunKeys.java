package blackbox.vault;

import blackbox.files.AtomicFiles;
import blackbox.files.Folders;
import blackbox.schemas.RunId;
import blackbox.vault.VaultException.Code;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.stream.Stream;

/// The runs' keys, a file each, `<run>.key`, wrapped with the data folder's key. One process at a time makes the key of
/// a run: its recorder, or whoever clears up after it.
final class RunKeys {
    private final Path folder;
    private final PayloadKey.Source data;
    private final SecureRandom random;

    RunKeys(Path folder, PayloadKey.Source data, SecureRandom random) {
        this.folder = folder;
        this.data = data;
        this.random = random;
    }

    private Path file(RunId run) {
        return folder.resolve(run.value() + ".key");
    }

    boolean exists(RunId run) {
        return Files.exists(file(run));
    }

    /// @throws VaultException `NO_KEY`, `WRONG_KEY`
    PayloadKey existing(RunId run) throws IOException {
        Path file = file(run);
        FileChannel channel;
        try {
            channel = FileChannel.open(file);
        } catch (NoSuchFileException e) {
            throw new VaultException(
                    Code.NO_KEY,
                    "the key of run " + run + ", " + file + ", is not here: without it nobody can read what is stored"
                            + " beside the run's events; copy it from a backup, together with the data folder's key",
                    e);
        }
        return unwrap(channel, file, run);
    }

    private PayloadKey unwrap(FileChannel channel, Path file, RunId run) throws IOException {
        try (channel) {
            PayloadKey wrapping = data.existing();
            byte[] associated = PayloadForm.RUN_KEY.associated(run, "");
            try (InputStream in =
                    EncryptedPayload.open(channel, file.toString(), wrapping, PayloadForm.RUN_KEY, associated)
                            .stream()) {
                byte[] octets = in.readNBytes(PayloadKey.BYTES + 1);
                try {
                    return PayloadKey.of(octets);
                } finally {
                    Arrays.fill(octets, (byte) 0);
                }
            }
        } catch (VaultException | IllegalArgumentException e) {
            if (e instanceof VaultException fault && fault.code() == Code.NO_KEY) {
                throw fault;
            }
            throw new VaultException(
                    Code.WRONG_KEY,
                    file + " cannot be opened with this data folder's key: it is another folder's or another run's, or"
                            + " was altered; BLACKBOX_PAYLOAD_KEY_FILE names the key of the folder that recorded the run",
                    e);
        }
    }

    /// The data folder's key. A new one is made only where no run has a key yet: one that is merely not here, on a
    /// stick that is not plugged in, must not be replaced.
    ///
    /// @throws VaultException `NO_KEY`
    PayloadKey dataKey() throws IOException {
        if (Files.isDirectory(folder)) {
            try (Stream<Path> all = Files.list(folder)) {
                if (all.anyMatch(file -> file.toString().endsWith(".key"))) {
                    return data.existing();
                }
            }
        }
        return data.existingOrNew();
    }

    PayloadKey existingOrNew(RunId run) throws IOException {
        if (exists(run)) {
            return existing(run);
        }
        PayloadKey key = PayloadKey.create(random);
        PayloadKey wrapping = dataKey();
        Folders.create(folder);
        Path staged = folder.resolve("." + run.value() + ".key.new");
        byte[] octets = key.octets();
        try (var in = new ByteArrayInputStream(octets)) {
            new PayloadWriter(random)
                    .write(in, staged, wrapping, PayloadForm.RUN_KEY, PayloadForm.RUN_KEY.associated(run, ""), _ -> {});
        } finally {
            Arrays.fill(octets, (byte) 0);
        }
        AtomicFiles.rename(staged, file(run));
        Folders.sync(folder);
        return key;
    }

    /// Deletes a run's key durably, after its octets were overwritten.
    void destroy(RunId run) throws IOException {
        Path file = file(run);
        Files.deleteIfExists(folder.resolve("." + run.value() + ".key.new"));
        if (!Files.exists(file)) {
            return;
        }
        try (var channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            var zeros = ByteBuffer.allocate(Math.toIntExact(channel.size()));
            for (long at = 0; zeros.hasRemaining(); ) {
                at += channel.write(zeros, at);
            }
            channel.force(true);
        }
        Files.delete(file);
        Folders.sync(folder);
    }
}
