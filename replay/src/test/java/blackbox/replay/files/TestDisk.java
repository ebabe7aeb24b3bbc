package blackbox.replay.files;

import blackbox.vm.Command;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// Disks as guests leave them, made by the file system's own tools.
public record TestDisk(Path folder) {
    private static final long LENGTH_BYTES = 24 << 20;

    /// A disk whose folder `upper` has what the commands of debugfs make there.
    ///
    /// @param commands each character an octet
    public Path make(String name, List<String> commands) throws Exception {
        Path image = folder.resolve(name + ".ext4");
        try (var raw = new RandomAccessFile(image.toFile(), "rw")) {
            raw.setLength(LENGTH_BYTES);
        }
        Command.of("mke2fs", "-q", "-F", "-t", "ext4", "-N", "8192", image.toString())
                .run();
        var all = new ArrayList<>(List.of("mkdir upper", "cd upper"));
        all.addAll(commands);
        change(image, all);
        return image;
    }

    /// Changes a disk.
    public void change(Path image, List<String> commands) throws Exception {
        Path script = Files.createTempFile(folder, "commands", "");
        Files.write(script, commands, StandardCharsets.ISO_8859_1);
        Command.Outcome outcome = Command.of("debugfs", "-w", "-f", script.toString(), image.toString())
                .attempt();
        // It goes on after a command that failed, and ends with 0.
        String errors = outcome.errors().lines().skip(1).reduce("", (a, b) -> a + b + "\n");
        if (outcome.exit() != 0 || !errors.isBlank()) {
            throw new IOException("debugfs: " + errors);
        }
    }

    /// A command that makes a file.
    public String write(String name, String content) throws IOException {
        Path source = Files.createTempFile(folder, "content", "");
        Files.writeString(source, content, StandardCharsets.ISO_8859_1);
        return "write " + source + " " + name;
    }
}
