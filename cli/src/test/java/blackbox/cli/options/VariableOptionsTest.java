package blackbox.cli.options;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.cli.exit.CommandException;
import blackbox.cli.exit.ExitCodes;
import blackbox.schemas.OctetText;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

final class VariableOptionsTest {

    @TempDir
    Path folder;

    private static Map<String, String> values(String... arguments) {
        var options = new VariableOptions();
        new CommandLine(CommandLine.Model.CommandSpec.create().addMixin("variables", spec(options)))
                .parseArgs(arguments);
        return options.values();
    }

    private static CommandLine.Model.CommandSpec spec(VariableOptions options) {
        return CommandLine.Model.CommandSpec.forAnnotatedObject(options);
    }

    private String file(String text) throws Exception {
        return Files.writeString(folder.resolve("variables"), text).toString();
    }

    @Test
    void aFilesLinesAreVariables() throws Exception {
        String file = file("# the agent's\n\nA=1\nB=\"two words\" \r\nC=x=y\nA=3");
        assertEquals(Map.of("A", "3", "B", "\"two words\" ", "C", "x=y"), values("--env-file", file));
    }

    @Test
    void whatIsGivenOnTheCommandLineTakesPrecedence() throws Exception {
        assertEquals(Map.of("A", "2", "B", ""), values("--env", "A=2", "--env-file", file("A=1\nB=")));
    }

    @Test
    void aNameAloneTakesThisProcesssValue() throws Exception {
        String path = System.getenv("PATH");
        assertEquals(Map.of("PATH", path), values("--env", "PATH"));
        assertEquals(Map.of("PATH", path), values("--env-file", file("PATH\n")));
    }

    @Test
    void octetsThatAreNotTextAreKept() throws Exception {
        byte[] octets = {'A', '=', (byte) 0xff, 'x', '\n'};
        String file = Files.write(folder.resolve("octets"), octets).toString();
        String value = values("--env-file", file).get("A");
        assertNotNull(value);
        assertEquals(List.of((byte) 0xff, (byte) 'x'), bytes(OctetText.octets(value)));
    }

    private static List<Byte> bytes(byte[] octets) {
        return List.of(octets[0], octets[1]);
    }

    /// A message names the place and never repeats its content.
    @Test
    void noMessageRepeatsASecret() throws Exception {
        String file = file("A=1\n=hunter2\n");
        for (String[] wrong : new String[][] {
            {"--env", "=hunter2"}, {"--env-file", file}, {"--env", "NOT_SET_HERE_7"}, {"--env-file", folder + "/none"}
        }) {
            var refused = assertThrows(CommandException.class, () -> values(wrong));
            assertEquals(ExitCodes.BAD_INPUT, refused.exitCode());
            assertFalse(String.valueOf(refused.getMessage()).contains("hunter2"), refused::getMessage);
        }
        var line = assertThrows(CommandException.class, () -> values("--env-file", file));
        assertTrue(String.valueOf(line.getMessage()).contains("line 2"), line::getMessage);
    }
}
