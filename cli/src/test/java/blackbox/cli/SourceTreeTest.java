package blackbox.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.schemas.Release;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// The house rules that no compiler checks, applied to the source files of every module.
class SourceTreeTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final int LINES_MAX = 600;
    /// In a package.
    private static final int TYPES_MAX = 30;
    private static final Pattern EMPTY_NAME = Pattern.compile(".*(Util|Utils|Helper|Manager|Impl|Base|Common)\\.java");
    private static final Pattern QUOTED = Pattern.compile("`([^`\\n]+)`");
    private static final Pattern TYPE_NAME = Pattern.compile("[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*");

    @Test
    void filesStayReadable() {
        List<String> tooLong = sources("src").stream()
                .filter(file -> lines(file).size() > LINES_MAX)
                .map(SourceTreeTest::name)
                .toList();
        assertEquals(List.of(), tooLong, "files of more than " + LINES_MAX + " lines");
    }

    @Test
    void packagesStaySmall() {
        Map<Path, Long> types = sources("src/main").stream()
                .filter(file -> !file.endsWith("package-info.java"))
                .collect(Collectors.groupingBy(Path::getParent, Collectors.counting()));
        types.values().removeIf(count -> count <= TYPES_MAX);
        assertEquals(Map.of(), types, "packages of more than " + TYPES_MAX + " files");
    }

    @Test
    void namesSayWhatAThingIs() {
        List<String> empty = sources("src").stream()
                .map(SourceTreeTest::name)
                .filter(EMPTY_NAME.asMatchPredicate())
                .toList();
        assertEquals(List.of(), empty);
    }

    @Test
    void everyPackageSaysWhatItIsForAndIsNullMarked() {
        Set<Path> packages = sources("src/main").stream().map(Path::getParent).collect(Collectors.toSet());
        List<String> silent = packages.stream()
                .map(folder -> folder.resolve("package-info.java"))
                .filter(info -> !Files.exists(info) || !saysSomething(info))
                .map(SourceTreeTest::name)
                .toList();
        assertEquals(List.of(), silent, "packages without a doc comment and @NullMarked");
    }

    @Test
    void testsDoNotSleepOrMock() {
        Predicate<String> forbidden = Pattern.compile(
                        "Thread\\.sleep\\(|TimeUnit\\.\\w+\\.sleep\\(|org\\.mockito|org\\.easymock")
                .asPredicate();
        List<String> found = sources("src/test").stream()
                .filter(file -> !file.endsWith("SourceTreeTest.java"))
                .filter(file -> lines(file).stream().anyMatch(forbidden))
                .map(SourceTreeTest::name)
                .toList();
        assertEquals(List.of(), found);
    }

    @Test
    void theVersionIsThatOfThePoms() {
        for (Path module : modules()) {
            String pom = String.join("\n", lines(module.resolve("pom.xml")));
            assertTrue(
                    pom.contains("<artifactId>blackbox</artifactId>\n    <version>" + Release.VERSION + "</version>"),
                    () -> name(module) + " has another version than " + Release.VERSION);
        }
    }

    /// In ARCHITECTURE.md, `AWord` in code quotes is a type of ours, and one that starts with a module's folder a
    /// path.
    @Test
    void theArchitecturePageNamesOnlyWhatExists() {
        Path page = ROOT.resolve("ARCHITECTURE.md");
        assertTrue(lines(page).size() <= 200, "ARCHITECTURE.md is longer than 200 lines");
        Set<String> types = types();
        Set<String> missing = new TreeSet<>();
        var quoted = QUOTED.matcher(String.join("\n", lines(page)));
        while (quoted.find()) {
            String word = quoted.group(1);
            boolean isType = TYPE_NAME.matcher(word).matches();
            boolean isPath = modules().stream().anyMatch(module -> word.startsWith(module.getFileName() + "/"));
            if (isType && !types.contains(word) || isPath && !Files.exists(ROOT.resolve(word))) {
                missing.add(word);
            }
        }
        assertEquals(Set.of(), missing);
    }

    /// The simple names of all types, nested ones, too, by the files that their classes are in.
    private static Set<String> types() {
        var types = new HashSet<String>();
        for (String below : List.of("target/classes", "target/test-classes")) {
            files(below, ".class").forEach(file -> {
                String name = file.getFileName().toString();
                types.add(name.substring(name.lastIndexOf('$') + 1, name.length() - ".class".length()));
            });
        }
        return types;
    }

    private static boolean saysSomething(Path packageInfo) {
        List<String> lines = lines(packageInfo);
        return lines.stream().anyMatch(line -> line.startsWith("///") || line.startsWith("/**"))
                && lines.contains("@NullMarked");
    }

    private static List<Path> modules() {
        try (Stream<Path> folders = Files.list(ROOT)) {
            return folders.filter(folder -> Files.exists(folder.resolve("pom.xml")))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<Path> sources(String below) {
        return files(below, ".java");
    }

    /// The files below a folder of each module whose names end so.
    private static List<Path> files(String below, String ending) {
        var found = new ArrayList<Path>();
        for (Path module : modules()) {
            Path folder = module.resolve(below);
            if (Files.isDirectory(folder)) {
                try (Stream<Path> files = Files.walk(folder)) {
                    files.filter(file -> file.toString().endsWith(ending)).forEach(found::add);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        }
        assertTrue(!found.isEmpty(), () -> "no " + ending + " below " + ROOT);
        return found;
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String name(Path file) {
        return ROOT.relativize(file).toString();
    }
}
