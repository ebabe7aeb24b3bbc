package blackbox.bench.subject;

import blackbox.files.Folders;
import blackbox.files.ProcessLock;
import blackbox.schemas.folder.DataFolder;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/// A data folder with a guest image in it, for the benchmarks that start VMs. It is kept between runs,
/// because an image takes minutes to build: `-Dblackbox.bench.data`, else `bench/target/data`.
public record VmData(Path folder) {
    private static final String IMAGE = "default";
    private static final Set<String> GROUPS = Set.of("image", "keys");

    public VmData {
        folder = folder.toAbsolutePath().normalize();
    }

    /// The shared folder; its image is built if there is none.
    public static VmData shared() throws IOException, InterruptedException {
        var data = new VmData(location());
        Folders.createPrivate(data.folder);
        data.build(IMAGE, IMAGE);
        return data;
    }

    /// Builds an image of its own unless there is one.
    ///
    /// @param definition as `blackbox image build` reads it
    public void addImage(String name, String definition) throws IOException, InterruptedException {
        Path definitions = Files.createDirectories(folder.resolve("bench"));
        Path file = definitions.resolve(name + ".json");
        Files.writeString(file, definition);
        build(name, file.toString());
    }

    private void build(String name, String what) throws IOException, InterruptedException {
        // Tests of the command line build it at the same time, under the same lock.
        try (ProcessLock _ = ProcessLock.take(folder.resolve("test-lock"))) {
            if (!Files.exists(new DataFolder(folder).images().resolve(name).resolve("image.json"))) {
                System.err.println("bench: building the guest image '" + name + "' in " + folder);
                Launcher.time(command("image", "build", what));
            }
        }
    }

    /// Where the shared folder is, or will be.
    public static Path location() {
        return Path.of(System.getProperty("blackbox.bench.data", "bench/target/data"));
    }

    /// A new folder with this one's image and QEMU, but without its snapshots and recordings. Images are
    /// replaced by renames, so what happens there does not affect this one.
    public VmData withImageOnly() throws IOException {
        Path fresh = Files.createTempDirectory(folder, "scratch-");
        Path from = new DataFolder(folder).images().resolve(IMAGE);
        Path to = Files.createDirectories(new DataFolder(fresh).images().resolve(IMAGE));
        try (var files = Files.list(from)) {
            for (Path file : files.filter(each -> Files.isRegularFile(each, LinkOption.NOFOLLOW_LINKS))
                    .toList()) {
                Files.createLink(to.resolve(file.getFileName()), file);
            }
        }
        var there = new DataFolder(folder);
        for (Path shared : List.of(there.qemu(), there.cache(), there.archive())) {
            if (Files.exists(shared)) {
                Files.createSymbolicLink(fresh.resolve(shared.getFileName()), shared);
            }
        }
        return new VmData(fresh);
    }

    /// The run that was recorded last, as `blackbox runs --json` shows it.
    public JsonNode newestRun() throws IOException, InterruptedException {
        JsonNode runs = new ObjectMapper().readTree(Launcher.output(command("runs", "--json")));
        return runs.path(runs.size() - 1);
    }

    /// The command line of `./blackbox` on this folder.
    public List<String> command(String... arguments) {
        // If a command has subcommands, the option belongs to them.
        int words = GROUPS.contains(arguments[0]) ? 2 : 1;
        var command = new ArrayList<>(List.of(Launcher.PATH.toString()));
        command.addAll(List.of(arguments).subList(0, words));
        command.addAll(List.of("--data", folder.toString()));
        command.addAll(List.of(arguments).subList(words, arguments.length));
        return command;
    }
}
