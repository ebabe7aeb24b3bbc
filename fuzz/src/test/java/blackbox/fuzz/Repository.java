package blackbox.fuzz;

import static blackbox.fuzz.FuzzTarget.ensure;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// A repository that git made: three files, two commits and a tag, the same each time.
public record Repository(Path folder) implements AutoCloseable {
    private static final Map<String, String> ENVIRONMENT = Map.of(
            "GIT_AUTHOR_NAME", "a",
            "GIT_AUTHOR_EMAIL", "a@example.org",
            "GIT_AUTHOR_DATE", "1700000000 +0000",
            "GIT_COMMITTER_NAME", "a",
            "GIT_COMMITTER_EMAIL", "a@example.org",
            "GIT_COMMITTER_DATE", "1700000000 +0000",
            "GIT_CONFIG_GLOBAL", "/dev/null",
            "GIT_CONFIG_NOSYSTEM", "1");

    /// Makes it.
    public static Repository make() throws Exception {
        var repository = new Repository(Files.createTempDirectory("fuzz-git"));
        repository.git("init", "-q", "-b", "main");
        Files.createDirectories(repository.file("sub"));
        for (String name : List.of("one", "two", "sub/three")) {
            Files.writeString(repository.file(name), (name + "\n").repeat(40));
        }
        repository.git("add", ".");
        repository.git("commit", "-qm", "first");
        Files.writeString(repository.file("one"), "one\n".repeat(41));
        repository.git("commit", "-qam", "second");
        repository.git("tag", "-am", "tagged", "v1");
        return repository;
    }

    /// Runs git in it.
    public void git(String... arguments) throws IOException, InterruptedException {
        var command = new ArrayList<>(List.of("git"));
        command.addAll(List.of(arguments));
        var builder = new ProcessBuilder(command).directory(folder.toFile()).inheritIO();
        builder.environment().putAll(ENVIRONMENT);
        ensure(builder.start().waitFor() == 0, "git failed");
    }

    /// A file of it.
    public Path file(String name) {
        return folder.resolve(name);
    }

    /// Files that match, in order; each name in the pattern may have wild cards.
    public List<Path> files(String pattern) throws IOException {
        var found = new ArrayList<Path>();
        String[] steps = pattern.split("/", -1);
        List<Path> folders = List.of(folder);
        for (String step : steps) {
            found.clear();
            for (Path each : folders) {
                try (DirectoryStream<Path> matches = Files.newDirectoryStream(each, step)) {
                    matches.forEach(found::add);
                }
            }
            folders = found.stream().sorted().toList();
        }
        return folders;
    }

    @Override
    public void close() throws IOException {
        Scratch.delete(folder);
    }
}
