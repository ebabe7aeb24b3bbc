package blackbox.bench.subject;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/// What the kernel counts of a process's memory.
public final class ResidentMemory {
    private static final String PEAK = "VmHWM:";

    private ResidentMemory() {}

    /// The peak of the resident memory so far, in octets; 0 if the process has just ended.
    ///
    /// @param status the process's file of this name below `/proc`
    public static long peakBytes(Path status) throws IOException {
        try {
            for (String line : Files.readAllLines(status)) {
                if (line.startsWith(PEAK)) {
                    return Long.parseLong(line.replaceAll("[^0-9]", "")) << 10;
                }
            }
            return 0;
        } catch (NoSuchFileException e) {
            return 0;
        }
    }
}
