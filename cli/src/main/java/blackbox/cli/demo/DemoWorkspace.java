package blackbox.cli.demo;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// The workspace of the demo's agent.
public final class DemoWorkspace {

    private static final List<String> FILES = List.of("agent.sh", "Makefile", "greet.py");

    private DemoWorkspace() {}

    /// Writes the workspace to `folder`, which must exist.
    public static void write(Path folder) throws IOException {
        for (String name : FILES) {
            try (InputStream in = DemoWorkspace.class.getResourceAsStream("/blackbox/cli/demo/" + name)) {
                if (in == null) {
                    throw new IOException("the demo's file " + name + " is missing from this build");
                }
                Files.copy(in, folder.resolve(name));
            }
        }
    }

    /// The agent's command; from inside the VM, the service is at `url`.
    public static List<String> command(String url) {
        return List.of("bash", "agent.sh", url);
    }
}
