package blackbox.cli.access;

import blackbox.cli.exit.CommandException;
import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.CommonOptions;
import blackbox.cli.options.DurationConverter;
import blackbox.cli.output.JsonOut;
import blackbox.node.access.ApiTokens;
import blackbox.node.access.Grant;
import blackbox.node.access.Role;
import blackbox.query.QueryException;
import blackbox.query.run.RunNames;
import blackbox.schemas.RunId;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `blackbox token create`.
@Command(
        name = "create",
        description = "Make a token and print it. It is shown only now.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExample:%n",
        footer = "  blackbox token create anna --role auditor --for 30d")
final class TokenCreateCommand implements Callable<Integer> {
    private static final Duration LIFETIME_MAX = Duration.ofDays(3_650);

    @Mixin
    private CommonOptions common;

    @Parameters(index = "0", paramLabel = "SUBJECT", description = "Who it is for; the record names them so.")
    private String subject = "";

    @Option(
            names = "--role",
            paramLabel = "ROLE",
            required = true,
            description = "viewer, auditor, operator, approver or admin.")
    private String role = "";

    @Option(
            names = "--for",
            paramLabel = "TIME",
            converter = DurationConverter.class,
            description = "How long it is valid, as 12h or 30d (default: 90d).")
    private Duration lifetime = Duration.ofDays(90);

    @Option(
            names = "--run",
            paramLabel = "RUN",
            description = "Only for this run, not for lists and searches; may be repeated.")
    private List<String> runs = new ArrayList<>();

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, QueryException {
        if (lifetime.isZero() || lifetime.isNegative() || lifetime.compareTo(LIFETIME_MAX) > 0) {
            throw CommandException.badInput("--for is more than 0 and at most " + LIFETIME_MAX.toDays() + "d");
        }
        ApiTokens.Made made = make();
        Grant grant = made.grant();
        PrintWriter out = spec.commandLine().getOut();
        if (common.json()) {
            String facts = grant.toJson().put("token", made.token()).toString();
            JsonOut.document(out, json -> json.writeRawValue(facts));
        } else {
            out.println(made.token());
            out.flush();
            spec.commandLine()
                    .getErr()
                    .println("blackbox: token " + grant.id() + " for " + grant.subject() + ", "
                            + grant.role().word() + ", until " + grant.expires()
                            + "; to be sent as `Authorization: Bearer …`; it is not shown again");
        }
        return ExitCodes.OK;
    }

    private ApiTokens.Made make() throws IOException, QueryException {
        Set<RunId> only = null;
        if (!runs.isEmpty()) {
            only = new LinkedHashSet<>();
            for (String each : runs) {
                only.add(RunNames.resolve(common.recordings(), each));
            }
        }
        try {
            return ApiTokens.create(common.ownDataFolder(), subject, Role.ofWord(role), only, lifetime);
        } catch (IllegalArgumentException e) {
            throw CommandException.badInput(String.valueOf(e.getMessage()));
        }
    }
}
