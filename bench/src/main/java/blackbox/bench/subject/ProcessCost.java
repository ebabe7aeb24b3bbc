package blackbox.bench.subject;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/// What a process and those that it has started have used, by the kernel's count.
///
/// @param processorSeconds in user and kernel mode, on all threads, of those that run
/// @param residentBytes memory at the moment
public record ProcessCost(double processorSeconds, long residentBytes) {
    /// Of `/proc/PID/stat`, counted from the field after the name: user mode, kernel mode.
    private static final int USER_TICKS = 11;

    private static final double TICKS_PER_SECOND = 100; // USER_HZ, the same on every Linux of this architecture
    private static final String RESIDENT = "VmRSS:";

    /// At the moment.
    public static ProcessCost of(Process process) throws IOException {
        double seconds = 0;
        long resident = 0;
        List<Long> all = Stream.concat(
                        Stream.of(process.pid()), process.descendants().map(ProcessHandle::pid))
                .toList();
        for (long pid : all) {
            seconds += seconds(pid);
            resident += resident(pid);
        }
        return new ProcessCost(seconds, resident);
    }

    private static double seconds(long pid) throws IOException {
        String stat = read(pid, "stat");
        if (stat.isEmpty()) {
            return 0;
        }
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return (Long.parseLong(fields[USER_TICKS]) + Long.parseLong(fields[USER_TICKS + 1])) / TICKS_PER_SECOND;
    }

    private static long resident(long pid) throws IOException {
        return read(pid, "status")
                .lines()
                .filter(line -> line.startsWith(RESIDENT))
                .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) << 10)
                .sum();
    }

    /// Empty for a process that has just ended.
    private static String read(long pid, String name) throws IOException {
        try {
            return Files.readString(Path.of("/proc", String.valueOf(pid), name));
        } catch (NoSuchFileException _) {
            return "";
        }
    }
}
