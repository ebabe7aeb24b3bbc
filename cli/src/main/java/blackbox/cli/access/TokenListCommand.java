package blackbox.cli.access;

import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.CommonOptions;
import blackbox.cli.output.JsonOut;
import blackbox.evidence.text.Printable;
import blackbox.node.access.ApiTokens;
import blackbox.node.access.Grant;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/// `blackbox token list`.
@Command(
        name = "list",
        description = "List the tokens that were made, oldest first, without the tokens.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExample:%n",
        footer = "  blackbox token list --json")
final class TokenListCommand implements Callable<Integer> {
    @Mixin
    private CommonOptions common;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        List<Grant> grants = ApiTokens.list(common.dataFolder());
        PrintWriter out = spec.commandLine().getOut();
        if (common.json()) {
            document(out, grants);
            return ExitCodes.OK;
        }
        Instant now = Instant.now();
        for (Grant each : grants) {
            out.println("%s  %-8s  %-8s  until %s  %s%s"
                    .formatted(
                            each.id(),
                            each.role().word(),
                            each.state(now),
                            each.expires(),
                            Printable.of(each.subject()),
                            each.runs() == null ? "" : "  (runs: " + each.runs().size() + ")"));
        }
        out.flush();
        return ExitCodes.OK;
    }

    /// Prints tokens as one JSON array.
    static void document(PrintWriter out, List<Grant> grants) throws IOException {
        Instant now = Instant.now();
        JsonOut.document(out, json -> {
            json.writeStartArray();
            for (Grant each : grants) {
                json.writeRawValue(each.toJson().put("state", each.state(now)).toString());
            }
            json.writeEndArray();
        });
    }
}
