package blackbox.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.DurationConverter;
import blackbox.recorder.guest.TracerFiles;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.TypeConversionException;

class CommandLineTest {

    @TempDir
    Path folder;

    private record Said(int exitCode, String out, String err) {}

    private static Said run(String... arguments) {
        PrintStream outBefore = System.out;
        PrintStream errBefore = System.err;
        var out = new ByteArrayOutputStream();
        var err = new ByteArrayOutputStream();
        try {
            System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
            System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
            int exitCode = Main.run(arguments);
            return new Said(exitCode, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
        } finally {
            System.setOut(outBefore);
            System.setErr(errBefore);
        }
    }

    @Test
    void anOptionBeforeTheCommandIsToldWhereItBelongs() {
        Said said = run("--data", folder.toString(), "runs");
        assertEquals(2, said.exitCode());
        assertEquals(
                "blackbox: options stand behind the command, as in: blackbox runs --json",
                said.err().strip());
        assertTrue(run("--data").err().contains("Usage: blackbox"));
    }

    /// With every command complete: the completion script lists the options of each.
    private static CommandLine whole() {
        return Main.commandLine("generate-completion");
    }

    /// A command that is listed nowhere could not be run, and nothing else would miss it.
    @Test
    void everyCommandIsListed() {
        Set<Class<?>> declared = new ClassFileImporter()
                .importPackages("blackbox.cli").stream()
                        .filter(type -> type.isAnnotatedWith(Command.class))
                        .map(JavaClass::reflect)
                        .filter(type -> !type.getPackageName().contains(".options"))
                        .collect(Collectors.toSet());
        Set<Class<?>> listed = all(whole())
                .map(each -> each.getCommandSpec().userObject().getClass())
                .collect(Collectors.toSet());
        declared.removeAll(listed);
        assertEquals(Set.of(), declared);
    }

    @Test
    void everyCommandSaysItsVersion() {
        String version = run("--version").out();
        assertTrue(version.startsWith("blackbox 0."), version);
        assertEquals(version, run("serve", "--version").out());
        assertEquals(version, run("token", "create", "--version").out());
    }

    private static Stream<CommandLine> all(CommandLine command) {
        return Stream.concat(
                Stream.of(command), command.getSubcommands().values().stream().flatMap(CommandLineTest::all));
    }

    /// A command as it is built for `arguments`.
    private static CommandLine command(String name, String... arguments) {
        return Objects.requireNonNull(
                Main.commandLine(arguments).getSubcommands().get(name));
    }

    @Test
    void aPartialCommandLineAnswersLikeTheCompleteOne() {
        CommandLine whole = whole();
        assertEquals(whole.getUsageMessage(), Main.commandLine("--help").getUsageMessage());
        assertEquals(whole.getUsageMessage(), Main.commandLine().getUsageMessage());
        whole.getSubcommands().forEach((name, command) -> {
            CommandLine alone = command(name, name, "--help");
            assertEquals(command.getUsageMessage(), alone.getUsageMessage());
        });
    }

    @Test
    void onlyWhatTheArgumentsNeedIsBuilt() {
        assertEquals(
                Set.of("touched"),
                Main.commandLine("touched", "verify").getSubcommands().keySet());
        assertEquals(
                List.of(),
                command("touched", "--help").getCommandSpec().options(),
                "a line in the list of commands needs no options");
        assertFalse(
                command("touched", "-h", "touched").getCommandSpec().options().isEmpty());
    }

    @Test
    void aMisspeltCommandIsAnsweredWithSimilarOnes() {
        Said said = run("verfy", "last");
        assertEquals(ExitCodes.BAD_INPUT, said.exitCode());
        assertTrue(said.err().contains("blackbox verify"), said.err());
    }

    @Test
    void everyCommandHasHelpWithAnExample() {
        Map<String, CommandLine> commands = whole().getSubcommands();
        assertTrue(commands.keySet()
                .containsAll(List.of(
                        "demo", "doctor", "image", "record", "runs", "show", "touched", "events", "why", "caused",
                        "query", "diff", "verify")));
        commands.remove("generate-completion");
        commands.forEach((name, command) -> {
            assertHelp(name);
            command.getSubcommands().keySet().forEach(each -> assertHelp(name, each));
        });
    }

    private static void assertHelp(String... words) {
        String name = String.join(" ", words);
        Said said = run(Stream.concat(Stream.of(words), Stream.of("--help")).toArray(String[]::new));
        assertEquals(0, said.exitCode(), name);
        assertTrue(said.out().contains("Usage: blackbox " + name), name);
        assertTrue(said.out().contains("Example"), name + " has no example");
    }

    @Test
    void aDefinitionToBeginWithIsWrittenOnce() {
        String file = folder.resolve("mine.json").toString();
        Said said = run("image", "init", "--agent", "claude", file, "--json");
        assertEquals(0, said.exitCode(), said.err());
        assertEquals(
                "{\"files\":[\"" + file + "\",\"" + folder.resolve("mine.package-lock.json") + "\"]}\n", said.out());
        Said again = run("image", "init", file);
        assertEquals(ExitCodes.BAD_INPUT, again.exitCode());
        assertTrue(again.err().contains("--force"), again.err());
        Said replaced = run("image", "init", "--force", file);
        assertEquals(file + "\n", replaced.out());
        assertTrue(replaced.err().contains("blackbox image build " + file), replaced.err());
    }

    @Test
    void badInputIsOneSentenceAndExitCode2() {
        String data = folder.toString();
        String[][] cases = {
            {"record", "--data", data, "--tier", "exact", "--", "true"},
            {"record", "--data", data, "--tier", "none", "--", "true"},
            {"record", "--data", data, "--network", "all", "--", "true"},
            {"record", "--data", data, "--user", "bob", "--", "true"},
            {"record", "--data", data, "--workspace", data + "/missing", "--", "true"},
            {"record", "--data", data, "--name", "a\nb", "--", "true"},
            {"record", "--data", data, "--image", "nope", "--", "true"},
            {"image", "build", "--data", data, "nope"},
            {"image", "build", "--data", data, data + "/nope.json"},
            {"image", "build", "--data", data, "--from", "default", "claude"},
            {"image", "init", data + "/claude.json"},
            {"image", "init", "--agent", "nope", data + "/mine.json"},
            {"record", "--data", data, "--kafka", "a:1,b", "--", "true"},
            {"serve", "--data", data, "--kafka", "a:1,b:c"},
            {"serve", "--data", data, "--log", "xml"},
            {"ingest", "--data", data, "--kafka", "a:1,,b:2"},
            {"image", "build", "--data", data, "no-such-definition"},
            {"image", "verify", "--data", data, "nope"},
            {"show", "--data", data, "last"},
            {"why", "--data", data, "last", "7"},
            {"caused", "--data", data, "last", "7"},
        };
        for (String[] arguments : cases) {
            Said said = run(arguments);
            assertEquals(ExitCodes.BAD_INPUT, said.exitCode(), String.join(" ", arguments) + said.err());
            assertEquals("", said.out(), String.join(" ", arguments));
            assertEquals(1, said.err().lines().count(), said.err());
            assertTrue(said.err().startsWith("blackbox: "), said.err());
        }
        assertEquals(ExitCodes.BAD_INPUT, run("no-such-command").exitCode());
        assertEquals(ExitCodes.BAD_INPUT, run("record").exitCode());
    }

    @Test
    void aCommandThatTheFirstEventCannotHoldIsRefusedBeforeAnythingStarts() {
        Said said = run("record", "--data", folder.toString(), "--", "echo", "x".repeat(50_000));
        assertEquals(ExitCodes.BAD_INPUT, said.exitCode());
        assertTrue(said.err().contains("first event can hold, which is 49152"), said.err());
    }

    @Test
    void doctorSaysWhatIsMissingAndHowToGetIt() {
        Said said = run("doctor", "--json", "--data", folder.toString());
        assertEquals(ExitCodes.DOES_NOT_HOLD, said.exitCode(), "there is no image in an empty data folder");
        assertTrue(said.out().contains("\"name\":\"image\",\"state\":\"missing\""), said.out());
        assertTrue(said.out().contains("blackbox image build"), said.out());
        assertTrue(said.out().contains("\"name\":\"heap\",\"state\":\"ok\""), said.out());
    }

    @Test
    void durationsAreReadAsPeopleWriteThem() {
        var converter = new DurationConverter();
        assertEquals(Duration.ofSeconds(90), converter.convert("90s"));
        assertEquals(Duration.ofSeconds(90), converter.convert("90"));
        assertEquals(Duration.ofMinutes(90), converter.convert("1h30m"));
        assertEquals(Duration.ofHours(49), converter.convert("2d1h"));
        for (String bad : List.of("", "0", "1w", "-5", "5 m", "h")) {
            assertThrows(TypeConversionException.class, () -> converter.convert(bad), bad);
        }
    }

    @Test
    void theTracersFilesOfThisBuildAreThoseOfTheSourceTree() throws Exception {
        Path tracer = Path.of("..", "recorder", "tracer");
        try (Stream<Path> files = Files.list(tracer)) {
            var names = files.map(file -> "tracer/" + file.getFileName())
                    .filter(name -> name.endsWith(".c") || name.endsWith(".py"))
                    .collect(Collectors.toCollection(TreeSet::new));
            assertEquals(names, new TreeSet<>(TracerFiles.all().keySet()));
        }
        assertFalse(TracerFiles.all().isEmpty());
    }
}
