package blackbox.node.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The machine itself: Java and its heap, disk, TPM, kernel.
final class Machine {

    /// Set by the launcher: the greatest heap of the commands that record a guest, in MiB.
    private static final String RECORDING = "blackbox.heap.recording";

    /// The same of those that read what one sent.
    private static final String READING = "blackbox.heap.reading";

    private static final long DISK_BYTES_MIN = 4L << 30;

    private Machine() {}

    static List<Check> look(Path data) {
        return List.of(
                java(), heap(System.getProperty(RECORDING), System.getProperty(READING)), disk(data), tpm(), kernel());
    }

    private static Check java() {
        return Check.ok("java", Runtime.version() + " (" + System.getProperty("java.vendor") + ")");
    }

    /// @param recording what the launcher states, null where this JVM was started without it
    static Check heap(@Nullable String recording, @Nullable String reading) {
        String usual = (Runtime.getRuntime().maxMemory() >> 20) + " MiB";
        String detail = recording == null || reading == null
                ? "at most " + usual + ", because this was started without the launcher"
                : "at most " + recording
                        + " MiB for demo and record, so that a guest that floods them gets no more than"
                        + " 1 GiB of this machine's memory, " + reading + " MiB for replay and serve, " + usual
                        + " for other commands";
        return Check.ok("heap", detail + "; another for all: BLACKBOX_JAVA_OPTS=-Xmx2g");
    }

    private static Check disk(Path data) {
        Path there = data;
        while (there != null && !Files.exists(there)) {
            there = there.getParent();
        }
        try {
            long free = Files.getFileStore(there == null ? Path.of("/") : there).getUsableSpace();
            String detail = (free >> 20) + " MiB free at " + data;
            return free >= DISK_BYTES_MIN
                    ? Check.ok("disk", detail)
                    : Check.missing(
                            "disk",
                            detail,
                            "free some space, or choose another place with --data; an image build needs 4 GiB");
        } catch (IOException e) {
            return Check.missing(
                    "disk", "cannot determine the free space at " + data + ": " + e.getMessage(), "check --data");
        }
    }

    private static Check tpm() {
        return Files.exists(Path.of("/dev/tpmrm0"))
                ? Check.ok("tpm", "/dev/tpmrm0")
                : Check.absent(
                        "tpm", "no /dev/tpmrm0, so keys cannot be stored in a TPM", "enable the TPM in the firmware");
    }

    private static Check kernel() {
        String release = System.getProperty("os.name") + " " + System.getProperty("os.version");
        return Check.ok("kernel", release + "; nothing is traced on the host, the tracer runs in the guest");
    }
}
