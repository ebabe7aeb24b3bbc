package blackbox.vm.define;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.image.ImageAdditions;
import blackbox.vm.image.ImageAdditions.AddedFile;
import blackbox.vm.image.ImageDefinition;
import blackbox.vm.image.ImageLock;
import blackbox.vm.image.ImageSource;
import blackbox.vm.image.PackageArchive;
import blackbox.vm.npm.NpmLock;
import blackbox.vm.npm.TestArchive;
import blackbox.vm.npm.TestRegistry;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Definitions of users and of agents that ship: what they mean, and what is said of a wrong one.
class ImageDefinitionsTest {
    @TempDir
    Path folder;

    @Test
    void aDefinitionAddsToWhatItIsBasedOn() throws Exception {
        Files.createDirectories(folder.resolve("tools/more"));
        Files.writeString(folder.resolve("tools/run.sh"), "run");
        Files.setPosixFilePermissions(folder.resolve("tools/run.sh"), PosixFilePermissions.fromString("rwx------"));
        Files.writeString(folder.resolve("tools/more/data"), "data");
        Files.writeString(folder.resolve("secretive"), "s");
        ImageDefinition whole = whole("""
                // comments and a comma too many are fine
                {
                  "format": 1, "name": "mine",
                  "packages": ["jq", "git"],
                  "files": [
                    {"path": "/opt/tools", "from": "tools"},
                    {"path": "/etc/mine.conf", "text": "a\\nb", "mode": "0600"}, /* and so on */
                    {"path": "/home/agent/.s", "from": "secretive", "mode": "0400"},
                  ],
                  "environment": {"B": "2", "A": "1"},
                }
                """);
        ImageDefinition base = ImageDefinition.named("default");
        assertEquals("mine", whole.name());
        assertEquals(base.kernelArguments(), whole.kernelArguments());
        assertTrue(whole.packages().containsAll(base.packages()));
        assertEquals(base.packages().size() + 1, whole.packages().size(), "git was there already");
        assertEquals(
                List.of(
                        "/etc/mine.conf 0600 a\nb",
                        "/home/agent/.s 0400 s",
                        "/opt/tools/more/data 0644 data",
                        "/opt/tools/run.sh 0755 run"),
                files(whole));
        assertEquals(Map.of("A", "1", "B", "2"), additions(whole).environment());
        assertEquals(whole, whole(Files.readString(folder.resolve("mine.json"))), "the same again");
    }

    @Test
    void aDefinitionThatIsBasedOnAnAgentsAddsToThat() throws Exception {
        try (var registry = new TestRegistry()) {
            registry.publish("some", TestArchive.of("some", "1.0.0", "x").octets());
            Files.writeString(folder.resolve("package-lock.json"), registry.lock(Map.of("some", "run")));
            var two = new ImageDefinitions(registry.url());
            Files.writeString(
                    folder.resolve("mine.json"),
                    "{\"format\": 1, \"name\": \"mine\", \"from\": \"node\", \"npm\": {\"lock\": \"package-lock.json\"}}");
            Path scratch = Files.createDirectories(folder.resolve("scratch"));
            var archive = new PackageArchive(folder.resolve("data"));
            ImageSource source = two.read(folder.resolve("mine.json"), "default");
            ImageAdditions added = additions(source.whole(archive, scratch, _ -> {}));
            assertEquals("default", added.from(), "--from counts");
            assertEquals(
                    List.of("some@1.0.0"),
                    added.npm().stream().map(each -> each.npm().spec()).toList());
            assertTrue(added.npm()
                    .getFirst()
                    .npm()
                    .isIn(archive.path(added.npm().getFirst().object().sha256())));
            assertEquals(
                    List.of("mine.json", "package-lock.json"),
                    List.copyOf(added.sources().keySet()));
            registry.close();
            assertEquals(
                    added, additions(source.whole(archive, scratch, _ -> {})), "and the archive has it from now on");
        }
    }

    @Test
    void whatIsWrongIsSaidWithLineAndField() throws Exception {
        Files.writeString(folder.resolve("there"), "x");
        Files.createSymbolicLink(folder.resolve("out"), Path.of("/etc/passwd"));
        Files.createDirectories(folder.resolve("linked"));
        Files.createSymbolicLink(folder.resolve("linked/x"), Path.of("/etc/passwd"));
        Files.writeString(folder.resolve("old.json"), "{\"lockfileVersion\": 1}");
        String[][] cases = {
            {"\"packges\": []", "line 3: packges: there is no such field", "packages"},
            {"\"name\": \"other\"", "line 3", "Duplicate"},
            {"\"packages\": \"jq\"", "line 3: packages: it has to be a list"},
            {"\"packages\": [\"jq\",\n7]", "line 4: packages[1]: it has to be a text"},
            {"\"packages\": [\"j q\"]", "packages[0]: 'j q' is not the name of a Debian package"},
            {"\"packages\": [\"--x\"]", "packages[0]: '--x' is not the name"},
            {"\"npm\": {}", "line 3: npm: it needs a \"lock\""},
            {"\"npm\": {\"lock\": \"package-lock.json\"}", "npm.lock: there is no readable", "npm install"},
            {"\"npm\": {\"lock\": \"old.json\"}", "old.json", "version 3"},
            {"\"npm\": {\"lock\": \"../x\"}", "npm.lock"},
            {"\"files\": [{\"path\": \"/opt/x\"}]", "files[0]: it needs a \"path\""},
            {"\"files\": [{\"path\": \"/opt/x\", \"from\": \"there\", \"text\": \"\"}]", "files[0]"},
            {"\"files\": [{\"path\": \"opt/x\", \"text\": \"\"}]", "'opt/x' is not an absolute path"},
            {"\"files\": [{\"path\": \"/opt/../etc/x\", \"text\": \"\"}]", "not an absolute path"},
            {"\"files\": [{\"path\": \"/usr/bin/python3\", \"text\": \"\"}]", "is not below /usr/local"},
            {"\"files\": [{\"path\": \"/workspace/x\", \"text\": \"\"}]", "record --workspace"},
            {"\"files\": [{\"path\": \"/etc/ld.so.preload\", \"text\": \"\"}]", "watches the agent"},
            {"\"files\": [{\"path\": \"/usr/local/lib/python3.11/x.pth\", \"text\": \"\"}]", "watches the agent"},
            {"\"files\": [{\"path\": \"/opt/npm/x\", \"text\": \"\"}]", "the build writes"},
            {"\"files\": [{\"path\": \"/opt/x\", \"from\": \"out\"}]", "is not in the definition's own folder"},
            {"\"files\": [{\"path\": \"/opt/x\", \"from\": \"/etc/passwd\"}]", "own folder"},
            {"\"files\": [{\"path\": \"/opt/x\", \"from\": \"linked\"}]", "links and devices are not taken"},
            {"\"files\": [{\"path\": \"/opt/x\", \"from\": \"nosuch\"}]", "files[0].from: there is no readable"},
            {"\"files\": [{\"path\": \"/opt/x\", \"text\": \"\", \"mode\": \"4755\"}]", "files[0].mode", "0755"},
            {"\"files\": [{\"path\": \"/opt/x\", \"text\": \"\", \"mode\": 644}]", "files[0].mode: it has to be a text"
            },
            {"\"files\": [{\"path\": \"/opt/x\", \"text\": \"\"}, {\"path\": \"/opt/x\", \"text\": \"\"}]", "files[1]"},
            {"\"files\": [{\"path\": \"/opt/x\", \"text\": \"\"}, {\"path\": \"/opt/x/y\", \"text\": \"\"}]", "below"},
            {"\"environment\": {\"A B\": \"1\"}", "environment.A B: the variable has a name"},
            {"\"environment\": {\"A\": 1}", "environment.A: it has to be a text"},
            {"\"environment\": {\"A\": \"\\u0000\"}", "NUL"},
            {"\"from\": \"debian\"", "\"from\" names 'debian'", "default, node, claude, pi"},
            {"]", "line 3, column"},
        };
        for (String[] each : cases) {
            String text = "{\"format\": 1,\n\"name\": \"mine\",\n" + each[0] + "\n}";
            var failure = assertThrows(VmException.class, () -> whole(text), each[0]);
            assertEquals(Code.IMAGE_DEFINITION, failure.code(), failure.getMessage());
            for (int i = 1; i < each.length; i++) {
                assertTrue(failure.getMessage().contains(each[i]), each[0] + " → " + failure.getMessage());
            }
        }
        for (String text : List.of(
                "",
                "[]",
                "{}",
                "{\"format\": 2, \"name\": \"mine\"}",
                "{\"format\": 1}",
                "{\"format\": 1, \"name\": \"Mine\"}",
                "{\"format\": 1, \"name\": \"default\"}",
                "{\"format\": 1, \"name\": \"mine\"} more")) {
            var failure = assertThrows(VmException.class, () -> whole(text), text);
            assertTrue(failure.getMessage().contains("mine.json"), failure.getMessage());
        }
    }

    @Test
    void aLockIsKeptBesideTheDefinitionIfThereIsNoneLikeIt() throws Exception {
        ImageLock base = Objects.requireNonNull(
                new ImageDefinitions(null).shipped("default").lock());
        Path file = Files.writeString(
                folder.resolve("mine.json"), "{\"format\": 1, \"name\": \"mine\", \"from\": \"claude\"}");
        ImageSource source = new ImageDefinitions(null).read(file, null);
        source.built(base, _ -> {});
        assertFalse(Files.exists(folder.resolve("mine.lock")), "what ships has it");
        var other = new ImageLock(base.format(), base.inputsSha256(), base.epoch() + 1, base.packages());
        source.built(other, _ -> {});
        assertEquals(other, new ImageDefinitions(null).read(file, null).lock());
        new ImageDefinitions(null).read(file, null).built(base, _ -> {});
        assertEquals(base, new ImageDefinitions(null).read(file, null).lock(), "what was built is what is kept");
    }

    @Test
    void whatShipsIsPinnedAndHasNoAddresses() throws Exception {
        for (String each : ImageDefinitions.SHIPPED) {
            assertEquals(each, new ImageDefinitions(null).shipped(each).plain().name());
        }
        for (String each : ImageDefinitions.AGENTS) {
            String text = Objects.requireNonNull(ImageDefinition.resource(each + ".package-lock.json"));
            assertFalse(text.contains("\"resolved\""), each);
            assertFalse(text.contains("://"), each);
            DerivedDefinition definition = new DefinitionReader(new Beside.Shipped())
                    .read(Objects.requireNonNull(ImageDefinition.resource(each + ".json")), each);
            NpmLock lock = Objects.requireNonNull(definition.npm()).lock();
            assertEquals(
                    Set.of(each, "node"),
                    lock.packages().stream()
                            .filter(one -> one.direct())
                            .flatMap(one -> one.bin().keySet().stream())
                            .collect(Collectors.toSet()));
        }
        var unknown = assertThrows(VmException.class, () -> new ImageDefinitions(null).shipped("../default"));
        assertEquals(Code.IMAGE_UNKNOWN, unknown.code());
    }

    @Test
    void whatInitWritesCanBeBuilt() throws Exception {
        List<Path> written =
                StartingDefinition.write(folder.resolve("my-agent.json"), null, StartingDefinition.Existing.REFUSE);
        assertEquals(List.of(folder.resolve("my-agent.json")), written);
        ImageSource source = new ImageDefinitions(null).read(written.getFirst(), null);
        assertEquals(ImageDefinition.named("default").extended("my-agent", List.of()), source.plain());
        assertNotNull(source.base());
        for (String agent : ImageDefinitions.AGENTS) {
            List<Path> copy = StartingDefinition.write(
                    folder.resolve("my-" + agent + ".json"), agent, StartingDefinition.Existing.REFUSE);
            assertEquals(folder.resolve("my-" + agent + ".package-lock.json"), copy.getLast());
            assertEquals(
                    "my-" + agent,
                    new ImageDefinitions(null)
                            .read(copy.getFirst(), null)
                            .plain()
                            .name());
        }
        for (String name : List.of("my-agent.json", "claude.json", "My.json", "mine.txt")) {
            assertThrows(
                    VmException.class,
                    () -> StartingDefinition.write(folder.resolve(name), null, StartingDefinition.Existing.REFUSE));
        }
        StartingDefinition.write(folder.resolve("my-agent.json"), "pi", StartingDefinition.Existing.REPLACE);
        assertTrue(Files.readString(folder.resolve("my-agent.json")).contains("my-agent.package-lock.json"));
    }

    private ImageDefinition whole(String text) throws Exception {
        Path file = Files.writeString(folder.resolve("mine.json"), text);
        return new ImageDefinitions(null)
                .read(file, null)
                .whole(
                        new PackageArchive(folder.resolve("data")),
                        Files.createDirectories(folder.resolve("scratch")),
                        _ -> {});
    }

    private List<String> files(ImageDefinition definition) throws Exception {
        var archive = new PackageArchive(folder.resolve("data"));
        var files = new ArrayList<String>();
        for (AddedFile each : additions(definition).files()) {
            String text = new String(archive.octets(each.object().sha256()), StandardCharsets.UTF_8);
            files.add(each.path() + " " + each.mode() + " " + text);
        }
        return files;
    }

    private static ImageAdditions additions(ImageDefinition definition) {
        return Objects.requireNonNull(definition.additions());
    }
}
