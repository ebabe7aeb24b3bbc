package blackbox.cli.options;

import blackbox.cli.exit.CommandException;
import blackbox.evidence.store.Recordings;
import blackbox.files.Folders;
import blackbox.files.Umask;
import blackbox.node.data.LocalTrust;
import blackbox.schemas.folder.DataFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// What every command takes; add it as `@Mixin`.
public final class CommonOptions {

    @Option(
            names = "--data",
            paramLabel = "DIR",
            description = "Where recordings live (default: $$BLACKBOX_DATA, else ~/.local/share/blackbox).")
    @Nullable
    private Path data;

    @Option(names = "--json", description = "One JSON document on standard output, NDJSON for streams.")
    private boolean json;

    /// The data folder chosen by option, environment or default.
    public DataFolder dataFolder() {
        if (data != null) {
            return new DataFolder(data).absolute();
        }
        String environment = System.getenv("BLACKBOX_DATA");
        if (environment != null && !environment.isEmpty()) {
            return new DataFolder(Path.of(environment)).absolute();
        }
        String xdg = System.getenv("XDG_DATA_HOME");
        Path base = xdg != null && !xdg.isEmpty() ? Path.of(xdg) : Path.of(home(), ".local", "share");
        return new DataFolder(base.resolve("blackbox")).absolute();
    }

    /// The same, to be written to: it is created if it is missing, and only its owner may open it or what this process
    /// and its children create. One that others may open is closed to them, unless it holds something else as well.
    ///
    /// @throws CommandException when it cannot be made or closed
    public DataFolder ownDataFolder() {
        DataFolder folder = dataFolder();
        Path root = folder.root();
        Umask.ownerOnly();
        try {
            if (!Folders.createPrivate(root)) {
                if (!Folders.isEmpty(root) && signs(folder).stream().noneMatch(Files::exists)) {
                    throw CommandException.badInput("others may open the folder " + root
                            + ", where recordings would be kept, which hold what the agent saw; other files are in"
                            + " it; name another with --data, or run chmod 700 on it");
                }
                Folders.close(root);
                System.err.println("blackbox: others could open the data folder; now its owner alone can (chmod 700)");
            }
        } catch (IOException e) {
            throw CommandException.failed("the data folder " + root + " cannot be used: " + e.getMessage(), e);
        }
        return folder;
    }

    /// Each is in a data folder and hardly anywhere else.
    private static List<Path> signs(DataFolder folder) {
        return List.of(folder.imagesLock(), folder.warehouse(), folder.logKey());
    }

    /// The recordings there; answers are made only from data files that are believed.
    public Recordings recordings() {
        return new LocalTrust(dataFolder()).recordings();
    }

    /// As the XDG specification defines it; the JVM's `user.home` is the account's, whatever `HOME` says.
    private static String home() {
        String home = System.getenv("HOME");
        return home != null && home.startsWith("/") ? home : System.getProperty("user.home");
    }

    /// Whether the answer is to be JSON.
    public boolean json() {
        return json;
    }
}
