package blackbox.recorder.keys;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// A TPM 2.0 of our own: swtpm on a Unix socket, started when it is first asked for.
final class TestTpm implements TestStore, AutoCloseable {

    private @Nullable Process process;
    private @Nullable Path state;

    @Override
    public StoreKind kind() {
        return StoreKind.TPM;
    }

    @Override
    public SequencedMap<String, String> settings() {
        var settings = new LinkedHashMap<String, String>();
        settings.put(TpmKeyStore.TCTI, tcti());
        return settings;
    }

    /// How it is reached.
    synchronized String tcti() {
        try {
            Path folder = state == null ? start() : state;
            return "swtpm:path=" + folder.resolve("sock");
        } catch (IOException | InterruptedException e) {
            throw new UncheckedIOException(new IOException("swtpm (Debian package swtpm) is needed: " + e, e));
        }
    }

    private Path start() throws IOException, InterruptedException {
        Path folder = Files.createTempDirectory("blackbox-swtpm");
        state = folder;
        process = new ProcessBuilder(
                        "swtpm",
                        "socket",
                        "--tpm2",
                        "--tpmstate",
                        "dir=" + folder,
                        "--server",
                        "type=unixio,path=" + folder.resolve("sock"),
                        "--ctrl",
                        "type=unixio,path=" + folder.resolve("sock.ctrl"),
                        "--pid",
                        "file=" + folder.resolve("pid"),
                        "--flags",
                        "not-need-init,startup-clear")
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        // It writes its pid when it listens.
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (!Files.exists(folder.resolve("pid"))) {
            if (process.waitFor(20, TimeUnit.MILLISECONDS) || System.nanoTime() > deadline) {
                throw new IOException("swtpm did not start");
            }
        }
        return folder;
    }

    /// Resets it, as switching a machine off and on does: what was loaded is gone.
    void reset() throws IOException, InterruptedException {
        String control = tcti().substring("swtpm:path=".length()) + ".ctrl";
        KeyStoresTest.run("swtpm_ioctl", "--unix", control, "-i");
        KeyStoresTest.run("tpm2_startup", "-T", tcti(), "-c");
    }

    private void stop() throws InterruptedException {
        if (process != null) {
            process.destroy();
            process.waitFor();
            process = null;
        }
    }

    @Override
    public void close() throws IOException, InterruptedException {
        stop();
        if (state != null) {
            try (Stream<Path> files = Files.list(state)) {
                for (Path file : files.toList()) {
                    Files.delete(file);
                }
            }
            Files.delete(state);
            state = null;
        }
    }

    @Override
    public String toString() {
        return "TPM 2.0 (swtpm)";
    }
}
