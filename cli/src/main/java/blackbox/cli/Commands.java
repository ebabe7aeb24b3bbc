package blackbox.cli;

import blackbox.cli.access.AccessCommand;
import blackbox.cli.access.TokenCommand;
import blackbox.cli.control.KillCommand;
import blackbox.cli.control.PauseCommand;
import blackbox.cli.control.ResumeCommand;
import blackbox.cli.egress.EgressCommand;
import blackbox.cli.export.ExportCommand;
import blackbox.cli.rules.RulesCommand;
import blackbox.cli.why.CausedCommand;
import blackbox.cli.why.WhyCommand;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.AutoComplete.GenerateCompletion;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;

/// The commands of `blackbox`, in the order in which the help lists them.
///
/// Reading a command's options by reflection takes milliseconds; doing so for all commands is half of the
/// time that `--help` takes. So only what the arguments ask for is read
/// (docs/decisions/0094-start-up-caches.md).
final class Commands {
    private static final List<Class<?>> ALL = List.of(
            DemoCommand.class,
            DoctorCommand.class,
            ImageCommand.class,
            RecordCommand.class,
            RunsCommand.class,
            ShowCommand.class,
            TouchedCommand.class,
            EventsCommand.class,
            WhyCommand.class,
            CausedCommand.class,
            OutputCommand.class,
            DiskCommand.class,
            QueryCommand.class,
            DiffCommand.class,
            VerifyCommand.class,
            ReplayCommand.class,
            EgressCommand.class,
            RulesCommand.class,
            AccessCommand.class,
            TokenCommand.class,
            ExportCommand.class,
            ImportCommand.class,
            AnchorCommand.class,
            ProveCommand.class,
            PauseCommand.class,
            ResumeCommand.class,
            KillCommand.class,
            ShredCommand.class,
            KeysCommand.class,
            ServeCommand.class,
            IngestCommand.class,
            McpCommand.class,
            GenerateCompletion.class);

    private Commands() {}

    /// Adds to `program` the commands that `arguments` need: the complete command that is named first; only
    /// names and descriptions where no command is named; otherwise all commands, complete.
    static CommandLine addTo(CommandLine program, String... arguments) {
        Map<String, Class<?>> byName = byName();
        Class<?> named = arguments.length == 0 ? null : byName.get(arguments[0]);
        if (named != null && named != GenerateCompletion.class) { // which prints the options of all commands
            program.addSubcommand(arguments[0], named);
        } else if (Arrays.stream(arguments).noneMatch(byName::containsKey)) {
            byName.forEach((name, command) -> program.addSubcommand(name, outline(command)));
        } else {
            byName.forEach(program::addSubcommand);
        }
        versioned(program);
        return program;
    }

    /// All are one program.
    private static void versioned(CommandLine command) {
        for (CommandLine each : command.getSubcommands().values()) {
            each.getCommandSpec().version(command.getCommandSpec().version());
            versioned(each);
        }
    }

    private static Map<String, Class<?>> byName() {
        var byName = new LinkedHashMap<String, Class<?>>();
        ALL.forEach(command -> byName.put(declared(command).name(), command));
        return byName;
    }

    private static Command declared(Class<?> command) {
        return command.getAnnotation(Command.class);
    }

    /// What the list of commands in the help shows for one command.
    private static CommandSpec outline(Class<?> command) {
        CommandSpec outline = CommandSpec.create();
        outline.usageMessage()
                .header(declared(command).header())
                .description(declared(command).description());
        return outline;
    }
}
