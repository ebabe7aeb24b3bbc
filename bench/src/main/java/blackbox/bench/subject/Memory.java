package blackbox.bench.subject;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/// The most memory that a process and its helpers have had, by the kernel's own high-water marks. Looks until
/// the process has ended, on a thread of its own.
final class Memory {
    private static final long LOOK_EVERY_MS = 50;
    /// What runs a guest, whose memory is the guest's; the process that is its network has no machine.
    private static final String HYPERVISOR = "qemu-system";

    private static final String NO_MACHINE = "-machine\0none\0";

    private final Process process;
    private final Map<Long, Long> marks = new ConcurrentHashMap<>();
    private final Thread looking;

    Memory(Process process) {
        this.process = process;
        this.looking = Thread.ofPlatform().daemon().start(this::look);
    }

    private void look() {
        try {
            do {
                look(process.pid());
                process.descendants()
                        .mapToLong(ProcessHandle::pid)
                        .filter(Memory::isHelper)
                        .forEach(this::look);
            } while (!process.waitFor(java.time.Duration.ofMillis(LOOK_EVERY_MS)));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void look(long pid) {
        try {
            marks.merge(pid, ResidentMemory.peakBytes(Path.of("/proc", Long.toString(pid), "status")), Math::max);
        } catch (IOException _) {
            // It has just ended.
        }
    }

    private static boolean isHelper(long pid) {
        String command = commandLine(pid);
        return !command.contains(HYPERVISOR) || command.contains(NO_MACHINE);
    }

    /// Empty for a process that has ended.
    private static String commandLine(long pid) {
        try {
            return Files.readString(Path.of("/proc", Long.toString(pid), "cmdline"), StandardCharsets.ISO_8859_1);
        } catch (IOException _) {
            return "";
        }
    }

    /// Of the process itself, once it has ended, MiB.
    long ownMib() throws InterruptedException {
        looking.join();
        return marks.getOrDefault(process.pid(), 0L) >> 20;
    }

    /// Of all others together, MiB.
    long helpersMib() throws InterruptedException {
        looking.join();
        return marks.entrySet().stream()
                        .filter(each -> each.getKey() != process.pid())
                        .mapToLong(Map.Entry::getValue)
                        .sum()
                >> 20;
    }
}
