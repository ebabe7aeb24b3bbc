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

    /// The same folder, for writing: it is created if it is missing, and only its owner may open it or anything
    /// that this process and its children create. If others may open it, their access is removed; a folder that is
    /// neither empty nor a data folder is refused instead.
    ///
    /// @throws CommandException when it cannot be made or closed
    public DataFolder ownDataFolder() {
        DataFolder folder = dataFolder();
        Path root = folder.root();
        Umask.ownerOnly();
        try {
            if (!Folders.createPrivate(root)) {
                if (!Folders.isEmpty(root) && signs(folder).stream().noneMatch(Files::exists)) {
                    throw CommandException.badInput(
                            "the folder " + root + " is open to others and holds other files, so"
                                    + " recordings, which hold what the agent saw, are not stored there; name another folder"
                                    + " with --data, or run chmod 700 on it");
                }
                Folders.close(root);
                System.err.println(
                        "blackbox: the data folder was open to others; now it is its owner's alone (chmod 700)");
            }
        } catch (IOException e) {
            throw CommandException.failed("the data folder " + root + " cannot be used: " + e.getMessage(), e);
        }
        return folder;
    }

    /// Files that are found in a data folder and hardly anywhere else.
    private static List<Path> signs(DataFolder folder) {
        return List.of(folder.imagesLock(), folder.warehouse(), folder.logKey());
    }

    /// The recordings in it; answers come only from data files whose seal and schema hold.
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
