package blackbox.packaging;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import blackbox.vm.Command;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The package that `make deb` builds, held against Debian's own tools and installed in two of its
/// releases.
class DebianPackageTest {
    private static final Path PROJECT = Path.of("..").toAbsolutePath().normalize();
    private static final Path ROOT = PROJECT.resolve("target/deb/root");

    private static final boolean IS_ROOT = "root".equals(System.getProperty("user.name"));

    /// A Debian is installed and booted on an emulated processor: four minutes alone, and in 15 it was not done beside
    /// all other tests.
    private static final Duration PATIENCE = Duration.ofMinutes(40);

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

    /// The limit is in tenths. Mere loopback is not looked at, so the number is that of a service on all
    /// addresses.
    @Test
    void theServiceMayDoLittle() throws Exception {
        Path unit = ROOT.resolve("usr/lib/systemd/system/blackbox.service");
        Command.Outcome looked =
                run("systemd-analyze", "security", "--offline=yes", "--no-pager", "--threshold=20", unit.toString());
        assertEquals(0, looked.exit(), looked::output);
        String last = looked.output().strip().lines().toList().getLast();
        assertTrue(last.contains("Overall exposure level for blackbox.service: 1."), last);
    }

    /// With the digest that it has in the package; what is in it and nobody lists could have any fault.
    @Test
    void theBillOfMaterialsListsEachLibrary() throws Exception {
        JsonNode bill = new ObjectMapper()
                .readTree(PROJECT.resolve("target/deb/sbom.cdx.json").toFile());
        assertEquals("CycloneDX", bill.get("bomFormat").textValue());
        var listed = new TreeMap<String, String>();
        var names = new TreeSet<String>();
        for (JsonNode component : bill.get("components")) {
            names.add(component.get("name").textValue() + " "
                    + component.get("version").textValue());
            assertFalse(component.path("licenses").isEmpty(), component::toString);
            for (JsonNode property : component.path("properties")) {
                if (property.get("name").textValue().equals("blackbox:file")) {
                    listed.put(
                            property.get("value").textValue(),
                            component.get("hashes").get(0).get("content").textValue());
                }
            }
        }
        Path jars = ROOT.resolve("usr/lib/blackbox/jars");
        var there = new TreeMap<String, String>();
        for (String folder : List.of("lib", "lib-fips")) {
            try (Stream<Path> files = Files.list(jars.resolve(folder))) {
                for (Path each : files.toList()) {
                    there.put(jars.relativize(each).toString(), sha256(each));
                }
            }
        }
        assertEquals(there, listed);
        assertTrue(
                names.containsAll(Set.of("hyparquet 1.33.0", "OpenJDK runtime " + Runtime.version())), names::toString);
    }

    private static String sha256(Path path) throws IOException, NoSuchAlgorithmException {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(path)));
    }

    /// Under systemd, where the limits of its unit hold, in a machine of its own, whose processor has fewer
    /// instructions than that on which the start-up caches were made.
    @Test
    void runsAsAService() throws Exception {
        assumeTrue(IS_ROOT, "only root makes the machine's disk");
        Map<String, String> told = told(run("packaging/boot", "bookworm", file.toString()));
        assertEquals("active", told.get("active"), told::toString);
        assertTrue(told.getOrDefault("health", "").contains("\"phase\":\"RUNNING\""), told::toString);
        assertEquals("[]", told.get("runs"));
        assertTrue(told.getOrDefault("query", "").contains("42"), told::toString);
        assertEquals("blackbox", told.get("user"));
        assertEquals("/tmp/of-a-recorder", told.get("sees"), "where recorders are asked to pause and to end");
        assertTrue(told.getOrDefault("exposure", "").contains(": 1."), told::toString);
        assertEquals("inactive success", told.get("stopped"));
        assertEquals("0", told.get("failed"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"bookworm", "trixie"})
    void isInstalledUsedAndRemoved(String suite) throws Exception {
        assumeTrue(IS_ROOT, "only root installs packages");
        Map<String, String> told = told(run("packaging/check", suite, file.toString()));
        assertEquals(suite, told.get("suite"));
        assertEquals(run("./blackbox", "--version").output().strip(), told.get("version"));
        assertEquals("0", told.get("unowned"));
        assertEquals("blackbox 700", told.get("home"));
        assertTrue(told.getOrDefault("enabled", "").contains("blackbox.service "), told::toString);
        assertEquals("1", told.get("subordinate"), "images are built in subordinate ids");
        assertEquals("/usr/bin/blackbox serve --no-index --replays 0", told.get("command"));
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
