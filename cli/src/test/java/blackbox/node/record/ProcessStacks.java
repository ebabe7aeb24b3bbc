package blackbox.node.record;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/// What a command that does not end is doing: where its threads are, and how much its children compute.
final class ProcessStacks {
    private static final int PATIENCE_S = 5;

    private ProcessStacks() {}

    static String of(Process command, Path out) throws IOException, InterruptedException {
        String children = command.descendants()
                .map(child -> "%d %s, computed for %s%n"
                        .formatted(
                                child.pid(),
                                child.info().command().orElse("?"),
                                child.info().totalCpuDuration().orElse(null)))
                .collect(Collectors.joining());
        return children + stacks(command, out);
    }

    /// The JVM prints them on its standard output, and lets nobody attach.
    private static String stacks(Process command, Path out) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-QUIT", Long.toString(command.pid()))
                .start()
                .waitFor();
        boolean unused = command.waitFor(PATIENCE_S, TimeUnit.SECONDS);
        return Files.readString(out);
    }
}
