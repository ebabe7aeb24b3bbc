package blackbox.bench.work;

import blackbox.bench.subject.Folders;
import blackbox.bench.subject.Launcher;
import blackbox.bench.subject.VmData;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// Something that agents do, to be recorded and executed again. Its files are resources of this program;
/// `@PEER@` in them is the address of a [PackageRegistry], as a guest reaches it.
///
/// @param image the guest image, `default` or [#IMAGE]
/// @param calls whether it calls the registry
/// @param files what lies in its workspace
/// @param command what runs there
public record Workload(String name, String image, boolean calls, List<String> files, List<String> command) {
    /// An image with Node, npm and pip.
    public static final String IMAGE = "agreement";

    /// Its definition, for `blackbox image build`.
    public static final String DEFINITION = """
            { "format": 1, "name": "%s", "from": "node", "packages": ["python3-pip"] }
            """.formatted(IMAGE);

    /// Those that are run by a command of the guest's; the demo's agent comes from `blackbox demo`.
    public static final List<Workload> ALL = List.of(
            new Workload("git", "default", false, List.of("git.sh"), List.of("sh", "git.sh")),
            new Workload("make", "default", false, List.of("Makefile", "input"), List.of("make", "-s", "-j4")),
            new Workload("pipeline", "default", false, List.of("pipeline.sh"), List.of("sh", "pipeline.sh")),
            new Workload("sqlite", "default", false, List.of("writers.py"), List.of("python3", "writers.py")),
            new Workload("asyncio", "default", true, List.of("fanout.py"), List.of("python3", "fanout.py")),
            new Workload("node", IMAGE, true, List.of("agent.js"), List.of("node", "agent.js")),
            new Workload("pip", IMAGE, true, List.of("pip.sh"), List.of("sh", "pip.sh")),
            new Workload("npm", IMAGE, true, List.of("npm.sh"), List.of("sh", "npm.sh")));

    private static final String FOLDER = "/blackbox/bench/agreement/";

    /// Records it, in a workspace of its own; its image is built if there is none.
    ///
    /// @param tier `exact` or `live`
    public void record(VmData data, String tier, PackageRegistry peer) throws IOException, InterruptedException {
        if (image.equals(IMAGE)) {
            data.addImage(IMAGE, DEFINITION);
        }
        Path workspace = prepare(data.folder(), peer);
        try {
            Launcher.time(data.command(arguments(tier, workspace)));
        } finally {
            Folders.delete(workspace);
        }
    }

    private Path prepare(Path parent, PackageRegistry peer) throws IOException {
        Path workspace = Files.createTempDirectory(parent, name + "-");
        for (String file : files) {
            Files.writeString(workspace.resolve(file), content(file).replace("@PEER@", peer.guestUrl()));
        }
        if (name.equals("npm")) {
            peer.writeLock(workspace);
        }
        return workspace;
    }

    private static String content(String file) throws IOException {
        if (file.equals("input")) {
            return "an input\n".repeat(100);
        }
        try (InputStream in = Workload.class.getResourceAsStream(FOLDER + file)) {
            if (in == null) {
                throw new IOException("there is no resource " + file);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private String[] arguments(String tier, Path workspace) {
        var arguments = new ArrayList<>(List.of("record", "--json", "--tier", tier, "--image", image));
        if (!image.equals("default")) {
            arguments.addAll(List.of("--memory", "2G"));
        }
        if (calls) {
            arguments.addAll(List.of("--network", "user"));
        }
        arguments.addAll(List.of("--workspace", workspace.toString(), "--"));
        arguments.addAll(command);
        return arguments.toArray(String[]::new);
    }
}
