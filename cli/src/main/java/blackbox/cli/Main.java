package blackbox.cli;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/// The `blackbox` program. Each command is a class of its own; exit codes are those of the command-line contract.
@Command(
        name = "blackbox",
        description = "The flight recorder and replay service for AI agents.",
        version = "blackbox 0.1.0",
        mixinStandardHelpOptions = true)
public final class Main {
    private Main() {}

    public static void main(String[] args) {
        System.exit(new CommandLine(new Main()).execute(args));
    }
}
