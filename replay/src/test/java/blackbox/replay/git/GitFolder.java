package blackbox.replay.git;

import blackbox.schemas.row.Text;
import blackbox.vm.Command;
import blackbox.vm.VmException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// A repository that the command `git` makes, without anyone's own settings.
public record GitFolder(Path folder) {

    /// A new one.
    public static GitFolder create(Path folder) throws IOException, VmException {
        Files.createDirectory(folder);
        var made = new GitFolder(folder);
        made.git(0, "-c", "init.defaultBranch=main", "init", "-q");
        return made;
    }

    /// Runs git, for which it is that second.
    public String git(long seconds, String... arguments) throws VmException {
        var argv = new ArrayList<>(List.of("git"));
        argv.addAll(Arrays.asList(arguments));
        Command command = Command.of(argv.toArray(String[]::new)).in(folder);
        String date = "@" + seconds + " +0000";
        for (String who : List.of("AUTHOR", "COMMITTER")) {
            command = command.with("GIT_" + who + "_NAME", "a")
                    .with("GIT_" + who + "_EMAIL", "a@x.invalid")
                    .with("GIT_" + who + "_DATE", date);
        }
        return command.with("GIT_CONFIG_GLOBAL", "/dev/null")
                .with("GIT_CONFIG_NOSYSTEM", "1")
                .with("TZ", "UTC")
                .run();
    }

    /// Puts everything as it is into a commit.
    public void commit(long seconds, String message) throws VmException {
        git(seconds, "add", ".");
        git(seconds, "commit", "-q", "-m", message);
    }

    /// The same as it is now, in another folder.
    public GitFolder copy(Path other) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path each : all.toList()) {
                Files.copy(each, other.resolve(folder.relativize(each).toString()));
            }
        }
        return new GitFolder(other);
    }

    /// A file that the next commit has.
    public void write(String name, String content) throws IOException {
        Files.writeString(folder.resolve(name), content);
    }

    public Path path(String name) {
        return folder.resolve(".git").resolve(name);
    }

    /// Ids of objects that are files of their own.
    public Set<String> loose() throws IOException {
        var ids = new TreeSet<String>();
        for (Path file : files()) {
            String name = file.toString();
            if (name.matches("objects/[0-9a-f]{2}/[0-9a-f]{38}")) {
                ids.add(name.substring(8).replace("/", ""));
            }
        }
        return ids;
    }

    /// The only pack, from the folder of objects on, without `.pack`.
    public String pack() throws IOException {
        List<String> packs = files().stream()
                .map(Path::toString)
                .filter(name -> name.endsWith(".pack"))
                .toList();
        if (packs.size() != 1) {
            throw new IOException("packs: " + packs);
        }
        return packs.getFirst().replace(".pack", "");
    }

    /// What git has, by the names from `.git` on.
    public List<Path> files() throws IOException {
        try (Stream<Path> all = Files.walk(path(""))) {
            return all.filter(Files::isRegularFile)
                    .map(path("")::relativize)
                    .sorted()
                    .toList();
        }
    }

    /// Its files, as if it were the root.
    Packs.Files opener() {
        return this::open;
    }

    private @Nullable InputStream open(Text path) throws IOException {
        Path file = folder.resolve("." + path);
        return Files.exists(file) ? Files.newInputStream(file) : null;
    }

    /// The pack as its guest sees it.
    Text packPath() throws IOException {
        return Text.of("/.git/" + pack() + ".pack");
    }
}
