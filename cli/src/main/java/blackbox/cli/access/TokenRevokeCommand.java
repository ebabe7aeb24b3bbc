package blackbox.cli.access;

import blackbox.cli.exit.CommandException;
import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.CommonOptions;
import blackbox.evidence.text.Printable;
import blackbox.node.access.ApiTokens;
import blackbox.node.access.Grant;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `blackbox token revoke`.
@Command(
        name = "revoke",
        description = "Revoke a token by its id, or all of a subject: whoever uses one is refused from now on.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExample:%n",
        footer = "  blackbox token revoke anna")
final class TokenRevokeCommand implements Callable<Integer> {
    @Mixin
    private CommonOptions common;

    @Parameters(index = "0", paramLabel = "TOKEN", description = "A token's id, or a subject.")
    private String said = "";

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        List<Grant> revoked = ApiTokens.revoke(common.ownDataFolder(), said);
        if (revoked.isEmpty()) {
            throw CommandException.badInput("no token that is not revoked yet has the id or the subject '"
                    + Printable.of(said) + "'; `blackbox token list` lists them");
        }
        PrintWriter out = spec.commandLine().getOut();
        if (common.json()) {
            TokenListCommand.document(out, revoked);
        } else {
            revoked.forEach(each -> out.println("revoked " + each.id() + ", of " + Printable.of(each.subject())));
            out.flush();
        }
        return ExitCodes.OK;
    }
}
