package blackbox.vm.process;

import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.confine.Box;
import blackbox.vm.qemu.Qemu;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// QEMU's log of a recording. QEMU writes its first 12 octets, the format's version and 8 zeros, when it exits
/// cleanly; everything after them is only appended to. That part is stored, copied while it grows: octets once
/// written do not change, and the log of a killed QEMU is usable up to its end.
public final class ReplayLog {
    public static final int HEADER_BYTES = 12;
    private static final int CHUNK_BYTES = 64 << 10;
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    private ReplayLog() {}

    /// Copies what QEMU appends, until QEMU ends.
    public static final class Copier {
        private final Thread thread;
        private volatile @Nullable IOException failure;

        public Copier(InputStream growing, Path kept) {
            thread = Thread.ofPlatform().daemon().name("replay-log").start(() -> copy(growing, kept));
        }

        private void copy(InputStream growing, Path kept) {
            try (growing;
                    OutputStream out = Files.newOutputStream(kept, StandardOpenOption.APPEND)) {
                FileStore store = Files.getFileStore(kept);
                var chunk = new byte[CHUNK_BYTES];
                for (int n = growing.read(chunk); n >= 0; n = growing.read(chunk)) {
                    // A QEMU that its guest has taken over can make its file as long as it likes for nothing.
                    if (store.getUsableSpace() < DiskWatch.RESERVE_BYTES / 2) {
                        throw new IOException("the host's disk is full");
                    }
                    out.write(chunk, 0, n);
                }
            } catch (IOException e) {
                failure = e;
            }
        }

        /// Waits for the last octet.
        public void finish() throws VmException {
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new VmException(Code.TIMEOUT, "interrupted while the replay log was kept", e);
            }
            IOException reason = failure;
            if (reason != null) {
                throw new VmException(Code.IO, "the replay log could not be stored", reason);
            }
        }
    }

    /// Makes the head of a log as `qemu` writes it when it exits cleanly.
    ///
    /// @param folder for temporary files
    /// @param target a new file
    public static void makeHeader(Qemu qemu, Path folder, Path target) throws VmException {
        try (var scratch = ScratchFolder.in(folder, ".header-")) {
            Path log = scratch.path().resolve("log");
            var argv = new ArrayList<String>(qemu.program());
            argv.addAll(List.of("-nodefaults", "-display", "none", "-machine", "none", "-S", "-monitor", "stdio"));
            argv.addAll(
                    List.of("-accel", "tcg,thread=single", "-icount", "shift=2,rr=record,rrfile=" + log.getFileName()));
            Box box =
                    Box.in(scratch.path().toRealPath()).writable(scratch.path().toRealPath());
            qemu.open(box);
            Process process = box.start(argv, null);
            try (OutputStream monitor = process.getOutputStream()) {
                monitor.write("quit\n".getBytes(StandardCharsets.US_ASCII));
            }
            process.getInputStream().transferTo(OutputStream.nullOutputStream());
            if (!process.waitFor(TIMEOUT) || process.exitValue() != 0) {
                process.destroyForcibly();
                throw new VmException(Code.QEMU_FAILED, "QEMU did not write an empty replay log");
            }
            box.end();
            try (InputStream written = Files.newInputStream(log)) {
                Files.write(target, written.readNBytes(HEADER_BYTES));
            }
        } catch (IOException e) {
            throw new VmException(Code.IO, "a replay log could not be created in " + folder, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VmException(Code.TIMEOUT, "interrupted while QEMU wrote an empty replay log", e);
        }
    }

    /// Makes the log that QEMU reads in a replay: the head that this QEMU writes, and the stored rest.
    public static void restore(Path header, InputStream kept, Path target) throws VmException {
        try (OutputStream out = Files.newOutputStream(target, StandardOpenOption.CREATE_NEW)) {
            Files.copy(header, out);
            kept.transferTo(out);
        } catch (IOException e) {
            throw new VmException(Code.IO, "the replay log could not be reassembled at " + target, e);
        }
    }
}
