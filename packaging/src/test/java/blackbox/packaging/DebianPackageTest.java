package blackbox.packaging;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.vm.Command;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The package that `make deb` builds, held against Debian's own tools and installed in two of its releases.
class DebianPackageTest {
    private static final Path PROJECT = Path.of("..").toAbsolutePath().normalize();
    private static final Path ROOT = PROJECT.resolve("target/deb/root");

    private static final Duration PATIENCE = Duration.ofMinutes(15);

    private static Path file;

    @BeforeAll
    static void build() throws Exception {
        Command.Outcome built = run("scripts/deb");
        assertEquals(0, built.exit(), built::errors);
        file = PROJECT.resolve(built.output().strip());
    }

    private static Command.Outcome run(String... command) throws Exception {
        return Command.of(command)
                .in(PROJECT)
                .with("JAVA_HOME", System.getProperty("java.home"))
                .within(PATIENCE)
                .attempt();
    }

    @Test
    void lintianFindsNothing() throws Exception {
        Command.Outcome looked = run("lintian", "--allow-root", "--tag-display-limit", "0", file.toString());
        assertEquals("", looked.output());
        assertEquals(0, looked.exit(), looked::errors);
    }

    /// The limit is in tenths. Mere loopback is not looked at, so the number is that of a service on all addresses.
    @Test
    void theServiceMayDoLittle() throws Exception {
        Path unit = ROOT.resolve("usr/lib/systemd/system/blackbox.service");
        Command.Outcome looked =
                run("systemd-analyze", "security", "--offline=yes", "--no-pager", "--threshold=20", unit.toString());
        assertEquals(0, looked.exit(), looked::output);
        String last = looked.output().strip().lines().toList().getLast();
        assertTrue(last.contains("Overall exposure level for blackbox.service: 1."), last);
    }

    /// What is in the package and nobody lists could have any fault.
    @Test
    void theBillOfMaterialsListsEachLibrary() throws Exception {
        JsonNode bill = new ObjectMapper()
                .readTree(PROJECT.resolve("target/deb/sbom.cdx.json").toFile());
        assertEquals("CycloneDX", bill.get("bomFormat").textValue());
        Map<String, JsonNode> components = bill.get("components")
                .valueStream()
                .collect(Collectors.toMap(
                        each -> each.get("name").textValue() + "-"
                                + each.get("version").textValue(),
                        each -> each));
        try (Stream<Path> jars = Files.list(ROOT.resolve("usr/lib/blackbox/jars/lib"))) {
            for (Path jar :
                    jars.filter(each -> each.toString().endsWith(".jar")).toList()) {
                assertTrue(components.keySet().stream().anyMatch(name -> isOf(jar, name)), jar + " is not on the bill");
            }
        }
        assertTrue(components.containsKey("hyparquet-1.33.0"), "what the page was bundled from");
        assertTrue(components.containsKey("OpenJDK runtime-" + Runtime.version()), "the runtime");
        assertTrue(
                components.values().stream().allMatch(each -> each.has("licenses")),
                () -> components.values().stream()
                        .filter(each -> !each.has("licenses"))
                        .map(each -> each.get("name").textValue())
                        .toList()
                        .toString());
    }

    /// Some have a classifier after it.
    private static boolean isOf(Path jar, String component) {
        String name = String.valueOf(jar.getFileName());
        return name.equals(component + ".jar") || name.startsWith(component + "-");
    }

    /// Under systemd, where the limits of its unit hold, in a machine of its own.
    @Test
    void runsAsAService() throws Exception {
        Map<String, String> told = told(run("packaging/boot", "bookworm", file.toString()));
        assertEquals("active", told.get("active"), told::toString);
        assertTrue(told.getOrDefault("health", "").contains("\"phase\":\"RUNNING\""), told::toString);
        assertEquals("[]", told.get("runs"));
        assertTrue(told.getOrDefault("query", "").contains("42"), told::toString);
        assertEquals("blackbox", told.get("user"));
        assertTrue(told.getOrDefault("exposure", "").contains(": 1."), told::toString);
        assertEquals("inactive success", told.get("stopped"));
        assertEquals("0", told.get("failed"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"bookworm", "trixie"})
    void isInstalledUsedAndRemoved(String suite) throws Exception {
        Map<String, String> told = told(run("packaging/check", suite, file.toString()));
        assertEquals(suite, told.get("suite"));
        assertEquals(run("./blackbox", "--version").output().strip(), told.get("version"));
        assertEquals("0", told.get("unowned"));
        assertEquals("blackbox 700", told.get("home"));
        assertTrue(told.getOrDefault("enabled", "").contains("blackbox.service "), told::toString);
        assertEquals("1", told.get("subordinate"), "images are built in subordinate ids");
        assertEquals("/usr/bin/blackbox serve --no-index", told.get("command"));
        assertEquals("200", told.get("health"));
        assertEquals("[]", told.get("runs"));
        assertEquals("[]", told.get("cache"));
        assertEquals("[{\"n\":42}]", told.get("query"));
        assertTrue(
                told.getOrDefault("purged", "").contains("recordings and keys are still in /var/lib/blackbox"),
                told::toString);
        assertEquals("all", told.get("kept"));
        assertEquals("", told.get("left"));
    }

    /// What a script said, by the words before the colon.
    private static Map<String, String> told(Command.Outcome tried) {
        assertEquals(0, tried.exit(), () -> tried.output() + tried.errors());
        return tried.output()
                .lines()
                .map(line -> line.split(": ", 2))
                .collect(Collectors.toMap(line -> line[0], line -> line.length < 2 ? "" : line[1]));
    }
}
