package blackbox.cli.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Runs of real VMs compared: equal work has no divergence, and what was changed is what `diff` names.
class RecordedDiffTest {

    private static final String DETERMINISTIC =
            "mkdir out; t=$(mktemp); cat config > $t; sort $t > out/a; rm $t; sh -c 'echo x > out/b'";

    @TempDir
    static Path folder;

    private static Installation blackbox;

    @BeforeAll
    static void install() throws Exception {
        blackbox = Installation.in(folder);
    }

    private static String workspace(String config) throws Exception {
        Path workspace = Files.createTempDirectory(folder, "workspace");
        Files.writeString(workspace.resolve("config"), config);
        return workspace.toString();
    }

    private static void record(String name, String workspace, String script) throws Exception {
        blackbox.run("record", "--name", name, "--workspace", workspace, "--", "sh", "-c", script)
                .expect(0);
    }

    private static JsonNode diff(String one, String other, int exitCode) throws Exception {
        return blackbox.run("diff", one, other, "--json").expect(exitCode).json();
    }

    @Test
    void equalWorkIsEqualAndAChangedFileOfTheWorkspaceIsNamed() throws Exception {
        String same = workspace("one\ntwo\n");
        record("first", same, DETERMINISTIC);
        record("again", same, DETERMINISTIC);
        JsonNode equal = diff("first", "again", 0);
        assertTrue(equal.path("firstDivergence").isNull(), equal::toString);
        record("changed", workspace("one\ntwo\nthree\n"), DETERMINISTIC);
        JsonNode first = diff("first", "changed", 1).path("firstDivergence");
        assertEquals("IMAGE", first.path("class").asText(), first::toString);
        assertTrue(first.path("causes").toString().contains("/workspace/config"), first::toString);
    }

    @Test
    void aRandomNumberThatDecidesIsRandom() throws Exception {
        String same = workspace("");
        String script = "touch r$(od -An -N8 -tx1 /dev/urandom | tr -d ' ')";
        record("random", same, script);
        record("random again", same, script);
        JsonNode first = diff("random", "random again", 1).path("firstDivergence");
        assertEquals("RANDOM", first.path("class").asText(), first::toString);
        assertTrue(first.path("expected").asText().contains("touch"), first::toString);
    }
}
