package blackbox.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

class ManPagesTest {
    private static final Set<String> REQUESTS = Set.of(".\\\"", ".TH", ".nh", ".ad", ".SH", ".PP", ".TP", ".nf", ".fi");

    @TempDir
    Path folder;

    @Test
    void eachCommandHasAPageThatSaysWhatItsHelpSays() throws Exception {
        CommandLine program = Main.commandLine("generate-completion");
        ManPages.write(program, folder, LocalDate.of(2026, 11, 29));
        var expected = new TreeSet<String>();
        for (CommandLine each : all(program).toList()) {
            String file = each.getCommandSpec().qualifiedName("-") + ".1";
            expected.add(file);
            List<String> page = Files.readAllLines(folder.resolve(file));
            assertEquals(
                    Set.of(),
                    page.stream()
                            .filter(line -> line.startsWith("."))
                            .map(line -> line.split(" ", 2)[0])
                            .filter(request -> !REQUESTS.contains(request))
                            .collect(Collectors.toSet()),
                    file);
            String read = words(read(String.join("\n", page)));
            for (OptionSpec option : each.getCommandSpec().options()) {
                if (!option.hidden()) {
                    assertTrue(read.contains(option.longestName()), file + " lacks " + option.longestName());
                    assertTrue(read.contains(words(said(option.description()))), file + ": " + option.longestName());
                }
            }
            CommandSpec spec = each.getCommandSpec();
            for (String line : Stream.of(
                            spec.usageMessage().description(),
                            spec.usageMessage().footer())
                    .flatMap(Arrays::stream)
                    .toList()) {
                assertTrue(read.contains(words(said(line))), file + " lacks: " + line);
            }
        }
        try (Stream<Path> files = Files.list(folder)) {
            assertEquals(
                    expected,
                    files.map(each -> each.getFileName().toString()).collect(Collectors.toCollection(TreeSet::new)));
        }
        assertTrue(expected.size() > 50, expected::toString);
    }

    /// What man(7) makes of the text: of its escapes, those that may be in it.
    private static String read(String page) {
        String read = page.replaceAll("\\\\f[BIR]", "")
                .replace("\\-", "-")
                .replace("\\(aq", "'")
                .replace("\\(ga", "`")
                .replace("\\(ha", "^")
                .replace("\\(ti", "~")
                .replace("\\&", "")
                .replace(".PP\n", "")
                .replace(".nf\n", "")
                .replace(".fi\n", "");
        assertTrue(!read.replace("\\e", "").replace(".\\\"", "").contains("\\"), read);
        return read.replace("\\e", "\\");
    }

    private static String said(String... formats) {
        return String.format(String.join(" ", formats));
    }

    private static String words(String text) {
        return text.strip().replaceAll("\\s+", " ");
    }

    private static Stream<CommandLine> all(CommandLine command) {
        return Stream.concat(
                Stream.of(command), command.getSubcommands().values().stream().flatMap(ManPagesTest::all));
    }
}
