package blackbox.node.record;

import blackbox.evidence.store.Recordings;
import blackbox.files.ProcessLock;
import blackbox.node.data.ImportStaging;
import blackbox.schemas.Progress;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import blackbox.vault.Vault;
import blackbox.vm.VmException;
import blackbox.vm.replay.SteppedMachine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Encrypts what earlier recorders left readable beside their runs' events, because they were killed or had no
/// room for a copy. Runs on its own daemon thread; what it has done when the process ends is not done again.
///
/// Nothing may still be writing to those files: it is started only once the machines that such recorders left
/// running have been ended ([blackbox.vm.machine.MachineHost]).
public final class ReadablePayloads implements AutoCloseable {
    private static final String LOCK = ".encrypting";

    private final DataFolder data;
    private final Vault vault;
    private final Progress progress;
    private final Thread thread;

    private ReadablePayloads(DataFolder data, Vault vault, Progress progress) {
        this.data = data;
        this.vault = vault;
        this.progress = progress;
        this.thread = Thread.ofPlatform().name("readable-payloads").daemon().unstarted(this::run);
    }

    /// Ends the machines that killed recorders left running, and starts encrypting.
    ///
    /// @throws IOException when they cannot be ended
    public static ReadablePayloads ofKilled(DataFolder data, Vault vault, Progress progress) throws IOException {
        ImportStaging.clearLeft(data);
        try {
            SteppedMachine.clearLeftovers(data.root());
        } catch (VmException e) {
            throw new IOException(e.getMessage(), e);
        }
        return start(data, vault, progress);
    }

    /// Starts encrypting.
    ///
    /// @param progress is told of what was encrypted, and of what could not be
    static ReadablePayloads start(DataFolder data, Vault vault, Progress progress) {
        var payloads = new ReadablePayloads(data, vault, progress);
        payloads.thread.start();
        return payloads;
    }

    /// Waits for at most `most` until everything is encrypted; the next recorder does what is left.
    void await(Duration most) throws InterruptedException {
        boolean unused = thread.join(most);
    }

    /// Stops, even in the middle of a file: that file stays readable until the next one encrypts it.
    @Override
    public void close() {
        thread.interrupt();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        if (!Files.isDirectory(data.captures())) {
            return;
        }
        try (ProcessLock lock = ProcessLock.tryTake(data.captures().resolve(LOCK))) {
            if (lock == null) {
                return; // another process is doing it
            }
            for (Path folder : Recordings.entries(data.captures())) {
                RunId run = runOf(folder);
                if (run != null && isLeft(run) && !Thread.currentThread().isInterrupted()) {
                    encrypt(run);
                }
            }
        } catch (IOException e) {
            progress.say("what earlier recordings left readable could not be listed: " + e.getMessage());
        }
    }

    /// Whether a dead recorder left files of this run readable. A recorder takes its lock before its machine
    /// starts, and so before any secret exists: where there are some, a lock that nobody holds was a dead
    /// recorder's.
    private boolean isLeft(RunId run) throws IOException {
        if (vault.unencrypted(run).isEmpty() || vault.shredded(run) != null || !Files.exists(data.runLock(run))) {
            return false;
        }
        try (ProcessLock free = ProcessLock.tryTake(data.runLock(run))) {
            return free != null;
        }
    }

    private void encrypt(RunId run) {
        try {
            long bytes = vault.encrypt(run, progress);
            progress.say("encrypted what an earlier recorder of run " + run + " left readable: " + bytes + " octets");
        } catch (IOException e) {
            if (!Thread.currentThread().isInterrupted()) {
                progress.say("what an earlier recorder of run " + run + " left readable could not be encrypted: "
                        + e.getMessage());
            }
        }
    }

    private static @Nullable RunId runOf(Path folder) {
        try {
            return new RunId(String.valueOf(folder.getFileName()));
        } catch (IllegalArgumentException e) {
            return null;
        }
    }
}
