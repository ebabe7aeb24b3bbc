package blackbox.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.cli.exit.ExitCodes;
import blackbox.evidence.TestEvents;
import blackbox.evidence.TestRun;
import blackbox.schemas.event.Event;
import blackbox.schemas.row.Text;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// `blackbox rules …` as a program calls it: output and exit codes.
class RulesCommandsTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String GOOD = """
            title: good
            id: good
            logsource: {product: linux, category: process_creation}
            detection: {a: {Image|endswith: /cc}, condition: a}
            """;
    private static final String LEFT_OUT =
            GOOD.replace("Image|endswith", "LogonId").replace("good", "left");
    private static final String WRONG =
            GOOD.replace("condition: a", "condition: b").replace("good", "wrong");

    @TempDir
    Path folder;

    private static JsonNode json(Ran ran) throws Exception {
        return JSON.readTree(ran.out());
    }

    private String file(String name, String text) throws Exception {
        return Files.writeString(folder.resolve(name), text).toString();
    }

    @Test
    void thoseThatAreBroughtAlongAreListed() throws Exception {
        Ran ran = Ran.of("rules", "list", "--json");
        assertEquals(ExitCodes.OK, ran.exitCode(), ran.err());
        assertTrue(json(ran).path("rules").size() > 10, ran.out());
        assertTrue(Ran.of("rules", "list").out().contains("The stop button did not answer"));
    }

    @Test
    void aTestSaysOfEachFileWhyItIsNotUsed() throws Exception {
        file("good.yml", GOOD);
        file("left.yaml", LEFT_OUT + "---\n" + GOOD.replace("good", "second"));
        file("no rule.txt", "x");
        Ran ran = Ran.of("rules", "test", folder.toString(), "--json");
        assertEquals(ExitCodes.OK, ran.exitCode(), ran.err());
        assertEquals(2, json(ran).path("rules").size(), "the other documents of its file are used");
        assertTrue(json(ran).path("leftOut").path(0).path("why").asText().contains("LogonId"), ran.out());
        file("wrong.yml", WRONG);
        file("over.yml", """
                title: over
                correlation: {type: event_count, rules: [left], timespan: 1m, condition: {gte: 2}}
                """);
        Ran again = Ran.of("rules", "test", folder.toString(), "--json");
        assertEquals(ExitCodes.DOES_NOT_HOLD, again.exitCode());
        assertEquals(1, json(again).path("wrong").size(), again.out());
        assertEquals(2, json(again).path("leftOut").size(), "what is over a rule that is left out is left out, too");
        Ran twice = Ran.of(
                "rules",
                "test",
                file("one.yml", GOOD),
                folder.resolve("good.yml").toString());
        assertEquals(ExitCodes.DOES_NOT_HOLD, twice.exitCode(), twice.out());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "rules list nowhere | cannot be read",
                "rules hunt --rules WRONG | condition",
                "rules hunt --rules LEFT | no rule that can be used",
                "rules hunt nobody --rules GOOD | no recordings",
                "rules list GOOD SAME | id good",
                "record --rules WRONG -- true | condition",
                "record --rules GOOD --pause-on loud -- true | there is no level 'loud'",
                "record --pause-on high -- true | add --rules",
                "record --webhook https://a.example/ -- true | add --rules",
                "record --rules GOOD --webhook http://a.example/secret -- true | https"
            })
    void badInputIsSaid(String line, String words) throws Exception {
        String[] arguments = line.replace("WRONG", file("wrong.yml", WRONG))
                .replace("LEFT", file("left.yml", LEFT_OUT))
                .replace("SAME", file("same.yml", GOOD))
                .replace("GOOD", file("good.yml", GOOD))
                .split(" ");
        Ran ran = Ran.of(withData(arguments));
        assertEquals(ExitCodes.BAD_INPUT, ran.exitCode(), ran.err());
        assertTrue(ran.err().contains(words), ran.err());
        assertFalse(ran.err().contains("\tat "), ran.err());
        assertFalse(ran.err().contains("/secret"), "a receiver's path may be a secret");
    }

    /// Before `--`.
    private String[] withData(String... arguments) {
        if (arguments[0].equals("rules") && arguments[1].equals("list")) {
            return arguments;
        }
        var all = new ArrayList<>(List.of(arguments));
        all.addAll(arguments[0].equals("rules") ? 2 : 1, List.of("--data", folder.toString()));
        return all.toArray(String[]::new);
    }

    @Test
    void aHuntFindsWhatWasRecorded() throws Exception {
        var run = new TestRun(folder.resolve("data"));
        run.open("hunted");
        var events = new TestEvents(run);
        long index =
                run.add(new Event.ProcessExec(events.guest(100, 1, "cc"), Text.of("/usr/bin/cc"), null, null, null, 0));
        run.add(new Event.ProcessExec(events.guest(100, 1, "cc"), Text.of("/usr/bin/ld"), null, null, null, 0));
        run.close(0);
        run.table();
        String data = run.data.toString();
        Ran ran = Ran.of("rules", "hunt", "--data", data, "--rules", file("good.yml", GOOD), "--json");
        assertEquals(ExitCodes.OK, ran.exitCode(), ran.err());
        JsonNode matches = json(ran).path("matches");
        assertEquals(1, matches.size(), ran.out());
        assertEquals(index, matches.path(0).path("index").asLong());
        assertEquals(run.run.toString(), matches.path(0).path("run").asText());
        assertEquals("good", matches.path(0).path("rule").path("id").asText());
        assertTrue(Ran.of("rules", "hunt", "--data", data, "--rules", file("good.yml", GOOD), run.run.toString())
                .out()
                .contains("1 matches"));
    }
}
