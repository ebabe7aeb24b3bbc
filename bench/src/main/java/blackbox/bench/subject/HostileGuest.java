package blackbox.bench.subject;

import blackbox.vm.image.GuestFiles;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// A guest that its agent has taken over: the agent is root and has the descriptors of the guest's first
/// process and of the tracer, as who has broken the guest's kernel would. All else in it is as always. Has a
/// data folder of its own.
///
/// @param classes come before the program's own, with the changed guest files
public record HostileGuest(VmData data, Path classes) implements AutoCloseable {
    private static final String PACKAGE = "blackbox/vm/guest";
    private static final String FLOODS = "floods.py";

    /// Where the agent's first process lets go of what it has inherited, and where it is made.
    private static final String LETS_GO = "    os.closerange(3, 1024)\n    for capability";

    private static final String LEAKS = """
            for target, descriptor in enumerate(LEAKED, 3):
                os.dup2(descriptor, target)
            os.closerange(6, 1024)
            for capability""".indent(4).stripTrailing();

    private static final String STARTS = "        pid = self.agent.start(argv, env,";
    private static final String GIVES = """
            open_here = (2, self.control.fd, self.tracer.kept[self.tracer.port])
            agents.LEAKED = [fcntl.fcntl(fd, fcntl.F_DUPFD, 100) for fd in open_here]
            """.indent(8);

    /// Makes one, with the image of `shared`.
    public static HostileGuest of(VmData shared) throws IOException {
        VmData data = shared.withImageOnly();
        Path classes = Files.createDirectories(data.folder().resolve("changed"));
        Path files = Files.createDirectories(classes.resolve(PACKAGE));
        change(files, "agent.py", LETS_GO, LEAKS);
        change(files, "init.py", STARTS, GIVES + STARTS);
        Path workspace = Files.createDirectory(data.folder().resolve("workspace"));
        try (InputStream in = HostileGuest.class.getResourceAsStream("/blackbox/bench/" + FLOODS)) {
            if (in == null) {
                throw new IOException(FLOODS + " is missing from this build");
            }
            Files.copy(in, workspace.resolve(FLOODS));
        }
        return new HostileGuest(data, classes);
    }

    private static void change(Path files, String name, String from, String to) throws IOException {
        try (InputStream in = GuestFiles.class.getResourceAsStream("/" + PACKAGE + "/" + name)) {
            if (in == null) {
                throw new IOException("the guest file " + name + " is missing from this build");
            }
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            if (!text.contains(from)) {
                throw new IOException("the guest file " + name + " is not what this program changes");
            }
            Files.writeString(files.resolve(name), text.replace(from, to));
        }
    }

    /// A recording of `floods.py` in it. Its recorder is the launcher's, with the heap that it gives.
    ///
    /// @param options of `record`
    /// @param arguments of `floods.py`
    public ProcessBuilder recording(List<String> options, List<String> arguments) {
        var command = new ArrayList<>(data.command("record", "--json", "--user", "root"));
        command.addAll(List.of("--workspace", data.folder().resolve("workspace").toString()));
        command.addAll(options);
        command.addAll(List.of("--", "python3", "/workspace/" + FLOODS));
        command.addAll(arguments);
        var builder =
                new ProcessBuilder(command).redirectInput(Path.of("/dev/null").toFile());
        builder.environment().put("BLACKBOX_JAVA_OPTS", "-Xbootclasspath/a:" + classes);
        return builder;
    }

    @Override
    public void close() throws IOException {
        Folders.delete(data.folder());
    }
}
