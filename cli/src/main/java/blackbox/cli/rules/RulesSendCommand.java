package blackbox.cli.rules;

import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.CommonOptions;
import blackbox.cli.options.DurationConverter;
import blackbox.node.alert.Outbox;
import blackbox.schemas.folder.DataFolder;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `blackbox rules send`.
@Command(
        name = "send",
        description = "Send the alerts that their webhook has not taken yet. Exit 1 when some are left.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {"  blackbox rules send --timeout 10m"})
final class RulesSendCommand implements Callable<Integer> {
    @Mixin
    private CommonOptions common;

    @Option(
            names = "--timeout",
            paramLabel = "DURATION",
            converter = DurationConverter.class,
            description = "How long it is tried (default: 1m).")
    private Duration timeout = Duration.ofMinutes(1);

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, InterruptedException {
        DataFolder data = common.ownDataFolder();
        int left;
        try (Outbox outbox = Outbox.open(data, line -> System.err.println("blackbox: " + line))) {
            left = outbox.finishAll(timeout);
        }
        PrintWriter out = spec.commandLine().getOut();
        out.println(
                common.json()
                        ? "{\"left\":" + left + "}"
                        : left == 0 ? "all alerts are sent" : left + " alerts are left");
        out.flush();
        return left == 0 ? ExitCodes.OK : ExitCodes.DOES_NOT_HOLD;
    }
}
