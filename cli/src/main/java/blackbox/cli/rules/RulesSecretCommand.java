package blackbox.cli.rules;

import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.CommonOptions;
import blackbox.node.alert.Webhook;
import blackbox.schemas.folder.DataFolder;
import java.io.IOException;
import java.io.PrintWriter;
import java.security.SecureRandom;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/// `blackbox rules secret`.
@Command(
        name = "secret",
        description = {
            "Print the secret with which alerts to webhooks are signed, for the receiver; it is made when it is first needed.",
            "",
            "Receivers verify with any library for Standard Webhooks. To change the secret, delete keys/webhook.secret in the"
                    + " data folder."
        },
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {"  blackbox rules secret"})
final class RulesSecretCommand implements Callable<Integer> {
    @Mixin
    private CommonOptions common;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        DataFolder data = common.ownDataFolder();
        String secret = Webhook.secret(data.webhookSecret(), new SecureRandom());
        PrintWriter out = spec.commandLine().getOut();
        out.println(common.json() ? "{\"secret\":\"" + secret + "\"}" : secret);
        out.flush();
        return ExitCodes.OK;
    }
}
