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
import org.jspecify.annotations.Nullable;

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

    /// The JVM's options that run a class of the tests, on the program's classes if it is built of today's; the class's
    /// name follows.
    ///
    /// @param tests the tests' class path
    public static List<String> options(String tests) {
        // The program's jar comes first: a cache fits only a class path that begins as its own did.
        return CURRENT.map(built -> built.with("-cp", built.jar + File.pathSeparator + tests))
                .orElse(List.of(
                        "--enable-native-access=ALL-UNNAMED",
                        "--sun-misc-unsafe-memory-access=allow", // as the launcher has it, or the JVM warns
                        "-cp",
                        tests));
    }

    private List<String> with(String... last) {
        // The JVM logs what of the cache it could not use to standard output, which belongs to the command.
        // Where native access is not granted as it was when the cache was made, the JVM takes nothing of the cache.
        var options = new ArrayList<>(List.of(
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-Xlog:disable",
                "-Xlog:all=error:stderr",
                "-XX:AOTCache=" + cache));
        Path zstd = folder.resolve("lib/libzstd-jni.so");
        if (Files.isReadable(zstd)) {
            options.add("-DZstdNativePath=" + zstd);
        }
        options.add("-Dorg.sqlite.lib.path=" + zstd.getParent());
        options.add("-Dorg.xerial.snappy.lib.path=" + zstd.getParent());
        options.addAll(List.of(last));
        return options;
    }

    private static Optional<BuiltProgram> find(Path project) {
        Path target = project.resolve("cli/target");
        // Of the caches, the one that knows the broker's and the table's classes.
        Path cache = target.resolve("serve.aot");
        try {
            Path jar = jar(target, "cli");
            if (jar == null || !Files.isReadable(cache)) {
                say("no program has been built");
                return Optional.empty();
            }
            Path place = target.resolve("aot-place");
            if (!Files.isReadable(place)
                    || !Files.readString(place)
                            .strip()
                            .equals(target.toRealPath().toString())) {
                say("the built program's cache was made elsewhere");
                return Optional.empty();
            }
            String stale = stale(project, cache);
            if (stale != null) {
                say("the built program is not today's: " + stale);
                return Optional.empty();
            }
            return Optional.of(new BuiltProgram(target, jar, cache));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static @Nullable Path jar(Path folder, String module) throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.filter(file -> file.getFileName().toString().matches("blackbox-" + module + "-[0-9.]+\\.jar"))
                    .findFirst()
                    .orElse(null);
        }
    }

    /// Why the program is not of the classes that are there now, or null: each module's jar must be no older than its
    /// classes and resources, and the cache no older than the jars.
    private static @Nullable String stale(Path project, Path cache) throws IOException {
        try (Stream<Path> modules = Files.list(project)) {
            for (Path module : modules.toList()) {
                String name = String.valueOf(module.getFileName());
                Path classes = module.resolve("target/classes");
                Path jar = jar(project.resolve(name.equals("cli") ? "cli/target" : "cli/target/lib"), name);
                if (jar == null || !Files.isDirectory(classes)) {
                    continue; // not part of the program
                }
                FileTime packed = Files.getLastModifiedTime(jar);
                Optional<Path> newer = newerThan(packed, classes);
                if (newer.isPresent()) {
                    return newer.get() + " is newer than its jar";
                }
                if (packed.compareTo(Files.getLastModifiedTime(cache)) > 0) {
                    return jar + " is newer than its start-up cache";
                }
            }
        }
        return null;
    }

    private static Optional<Path> newerThan(FileTime packed, Path classes) throws IOException {
        try (Stream<Path> all = Files.walk(classes)) {
            return all.filter(Files::isRegularFile)
                    .filter(each -> isNewer(each, packed))
                    .findFirst();
        }
    }

    private static boolean isNewer(Path file, FileTime packed) {
        try {
            return Files.getLastModifiedTime(file).compareTo(packed) > 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void say(String line) {
        System.err.println("tests: " + line + "; processes start from classes, which takes longer");
    }
}
