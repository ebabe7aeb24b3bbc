package blackbox.evidence;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// The jar that `make build` made, with its start-up cache: what the launcher starts. A process that starts from it
/// takes two thirds of the processor time of one that starts from folders of classes (docs/decisions/0165).
///
/// @param folder `cli/target`
/// @param jar the command line's jar, whose manifest names the others
/// @param cache the JVM's AOT cache
public record BuiltProgram(Path folder, Path jar, Path cache) {

    private static final Optional<BuiltProgram> CURRENT =
            find(Path.of("..").toAbsolutePath().normalize());

    /// The built program if no class and no resource of the project is newer than it.
    public static Optional<BuiltProgram> current() {
        return CURRENT;
    }

    /// The JVM's options that run the program; its arguments follow.
    public List<String> program() {
        return with("-jar", jar.toString());
    }

    /// The JVM's options that run a class of the tests on the program's classes; the class's name follows.
    ///
    /// @param more class path of what is not in the program
    public List<String> classPath(String more) {
        // The program's jar comes first: a cache fits only a class path that begins as its own did.
        return with("-cp", jar + File.pathSeparator + more);
    }

    private List<String> with(String... last) {
        // The JVM logs what of the cache it could not use to standard output, which belongs to the command.
        var options = new ArrayList<>(List.of(
                "--sun-misc-unsafe-memory-access=allow",
                "-Xlog:disable",
                "-Xlog:all=error:stderr",
                "-XX:AOTCache=" + cache));
        Path zstd = folder.resolve("lib/libzstd-jni.so");
        if (Files.isReadable(zstd)) {
            options.add("-DZstdNativePath=" + zstd);
        }
        options.addAll(List.of(last));
        return options;
    }

    private static Optional<BuiltProgram> find(Path project) {
        Path target = project.resolve("cli/target");
        // Of the caches, the one that knows the broker's and the table's classes.
        Path cache = target.resolve("serve.aot");
        try {
            Optional<Path> jar = Files.isReadable(cache) ? jar(target) : Optional.empty();
            if (jar.isEmpty()) {
                say("no program has been built");
                return Optional.empty();
            }
            Optional<Path> newer = newerThan(Files.getLastModifiedTime(cache), project);
            newer.ifPresent(file -> say("the built program is older than " + file));
            return newer.isPresent() ? Optional.empty() : Optional.of(new BuiltProgram(target, jar.get(), cache));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Optional<Path> jar(Path target) throws IOException {
        try (Stream<Path> built = Files.list(target)) {
            return built.filter(file -> file.getFileName().toString().matches("blackbox-cli-[0-9.]+\\.jar"))
                    .findFirst();
        }
    }

    /// A file of some module's classes that was written later than this.
    private static Optional<Path> newerThan(FileTime built, Path project) throws IOException {
        try (Stream<Path> modules = Files.list(project)) {
            for (Path classes :
                    modules.map(each -> each.resolve("target/classes")).toList()) {
                if (Files.isDirectory(classes)) {
                    try (Stream<Path> all = Files.walk(classes)) {
                        Optional<Path> newer = all.filter(Files::isRegularFile)
                                .filter(each -> isNewer(each, built))
                                .findFirst();
                        if (newer.isPresent()) {
                            return newer;
                        }
                    }
                }
            }
        }
        return Optional.empty();
    }

    private static boolean isNewer(Path file, FileTime built) {
        try {
            return Files.getLastModifiedTime(file).compareTo(built) > 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void say(String line) {
        System.err.println("tests: " + line + "; processes start from classes, which takes longer");
    }
}
