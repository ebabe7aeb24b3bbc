package blackbox.cli;

import blackbox.cli.exit.ExitCodes;
import blackbox.schemas.Release;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/// Writes the manual pages of all commands, as `--help` has them, into a folder: for the package that `scripts/deb`
/// builds. They are in the language of man(7).
final class ManPages {
    private static final int WIDTH = 10_000;

    private final String date;

    private ManPages(LocalDate date) {
        this.date = date.toString();
    }

    /// The folder and the day of the pages.
    public static void main(String[] args) throws IOException {
        // Like that command, this needs all commands complete.
        write(Main.commandLine("generate-completion"), Path.of(args[0]), LocalDate.parse(args[1]));
        Main.end(ExitCodes.OK);
    }

    /// One file for each command.
    static void write(CommandLine program, Path folder, LocalDate date) throws IOException {
        // Or a synopsis is broken into lines within its words.
        new ManPages(date).write(program.setUsageHelpWidth(WIDTH), folder);
    }

    private void write(CommandLine command, Path folder) throws IOException {
        Files.createDirectories(folder);
        Files.writeString(folder.resolve(nameOf(command.getCommandSpec()) + ".1"), page(command));
        for (CommandLine each : command.getSubcommands().values()) {
            write(each, folder);
        }
    }

    private static String nameOf(CommandSpec command) {
        return command.qualifiedName("-");
    }

    private String page(CommandLine command) {
        CommandSpec spec = command.getCommandSpec();
        UsageMessageSpec usage = spec.usageMessage();
        var page = new StringBuilder(".\\\" Written by blackbox.cli.ManPages\n");
        page.append(".TH \"%s\" 1 %s \"blackbox %s\" Blackbox%n"
                .formatted(escaped(nameOf(spec).toUpperCase(Locale.ROOT)), date, Release.VERSION));
        page.append(".nh\n.ad l\n");
        List<String> description = lines(usage.description());
        section(page, "Name");
        page.append(escaped(nameOf(spec))).append(" \\- ");
        page.append(escaped(String.join(" ", description).replaceFirst("\\.?$", "")))
                .append('\n');
        section(page, "Synopsis");
        paragraph(
                page,
                new Help(spec, Help.defaultColorScheme(Help.Ansi.OFF))
                        .synopsis(0)
                        .replaceAll("\\s+", " ")
                        .strip());
        section(page, "Description");
        description.forEach(line -> paragraph(page, line));
        arguments(page, "Arguments", spec.positionalParameters().stream().filter(each -> !each.hidden()));
        arguments(
                page,
                "Options",
                spec.options().stream()
                        .filter(each -> !each.hidden())
                        .sorted(Comparator.comparing(OptionSpec::longestName)));
        if (!command.getSubcommands().isEmpty()) {
            section(page, "Commands");
            command.getSubcommands().forEach((name, each) -> {
                page.append(".TP\n\\fB").append(escaped(name)).append("\\fR\n");
                text(
                        page,
                        String.join(
                                " ", lines(each.getCommandSpec().usageMessage().description())));
            });
        }
        List<String> footer = lines(usage.footer());
        if (!footer.isEmpty()) {
            String heading = String.join(" ", lines(usage.footerHeading()));
            section(page, heading.isEmpty() ? "Notes" : heading.replaceFirst(":$", ""));
            footer(page, footer);
        }
        seeAlso(page, command);
        return page.toString();
    }

    private static void arguments(StringBuilder page, String section, Stream<? extends ArgSpec> arguments) {
        List<? extends ArgSpec> all = arguments.toList();
        if (all.isEmpty()) {
            return;
        }
        section(page, section);
        for (ArgSpec each : all) {
            page.append(".TP\n").append(named(each)).append('\n');
            text(page, String.join(" ", lines(each.description())));
        }
    }

    /// `-o, --option=VALUE`, names in bold and values in italics.
    private static String named(ArgSpec argument) {
        String value = "\\fI" + escaped(argument.paramLabel()) + "\\fR";
        return switch (argument) {
            case OptionSpec option -> {
                List<String> names = Stream.of(option.names())
                        .sorted(Comparator.comparingInt(String::length))
                        .map(name -> "\\fB" + escaped(name) + "\\fR")
                        .toList();
                yield String.join(", ", names) + (option.arity().max() == 0 ? "" : "=" + value);
            }
            case PositionalParamSpec positional -> value + (positional.arity().max() > 1 ? "..." : "");
            default -> throw new IllegalStateException("an argument of another kind: " + argument);
        };
    }

    /// What stands further to the right is an example, and stays as it is.
    private static void footer(StringBuilder page, List<String> lines) {
        boolean verbatim = false;
        for (String line : lines) {
            if (line.startsWith(" ") != verbatim) {
                verbatim = !verbatim;
                page.append(verbatim ? ".PP\n.nf\n" : ".fi\n");
            }
            if (verbatim) {
                text(page, line.stripTrailing());
            } else {
                paragraph(page, line);
            }
        }
        if (verbatim) {
            page.append(".fi\n");
        }
    }

    private static void seeAlso(StringBuilder page, CommandLine command) {
        var others = new ArrayList<CommandSpec>();
        CommandLine parent = command.getParent();
        if (parent != null) {
            others.add(parent.getCommandSpec());
        }
        command.getSubcommands().values().forEach(each -> others.add(each.getCommandSpec()));
        if (others.isEmpty()) {
            return;
        }
        section(page, "See also");
        String separator = "";
        for (CommandSpec each : others) {
            page.append(separator).append("\\fB").append(escaped(nameOf(each))).append("\\fR(1)");
            separator = ",\n";
        }
        page.append('\n');
    }

    private static void section(StringBuilder page, String name) {
        page.append(".SH ").append(escaped(name.toUpperCase(Locale.ROOT))).append('\n');
    }

    private static void paragraph(StringBuilder page, String line) {
        if (!line.isBlank()) {
            page.append(".PP\n");
            text(page, line.strip());
        }
    }

    /// A line of text; the language takes one that begins with a dot or an apostrophe for a request.
    private static void text(StringBuilder page, String line) {
        boolean isRequest = line.startsWith(".") || line.startsWith("'");
        page.append(isRequest ? "\\&" : "").append(escaped(line)).append('\n');
    }

    /// A hyphen would be typeset, and could not be copied into a shell.
    private static String escaped(String text) {
        return text.replace("\\", "\\e")
                .replace("-", "\\-")
                .replace("'", "\\(aq")
                .replace("`", "\\(ga")
                .replace("^", "\\(ha")
                .replace("~", "\\(ti");
    }

    /// The lines as `--help` prints them: formats, among them that of a line's end.
    private static List<String> lines(String... formats) {
        return Stream.of(formats)
                .map(format -> String.format(Locale.ROOT, format))
                .flatMap(String::lines)
                .toList();
    }
}
