package blackbox.cli.access;

import picocli.CommandLine.Command;

/// `blackbox token`.
@Command(
        name = "token",
        description = {
            "Make and revoke tokens for the HTTP API of `serve`.",
            "",
            "Roles: viewer (which runs there are, how they ended, whether they verify), auditor (all that was"
                    + " recorded), operator (that, and to pause, resume, kill and replay runs), approver (as auditor), admin."
                    + " Of a token only the digest is kept. Changes count from the next request on."
        },
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {TokenCreateCommand.class, TokenListCommand.class, TokenRevokeCommand.class},
        footerHeading = "%nExamples:%n",
        footer = {
            "  blackbox token create anna --role auditor --for 30d",
            "  blackbox token create audit-of-july --role auditor --run 01m8hszw0bef0k9q63fa8mm1q4",
            "  blackbox token list",
            "  blackbox token revoke anna"
        })
public final class TokenCommand {}
