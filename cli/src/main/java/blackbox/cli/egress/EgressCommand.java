package blackbox.cli.egress;

import picocli.CommandLine.Command;

/// `blackbox egress`.
@Command(
        name = "egress",
        description = {
            "Validate and explain egress policies, hold them against recorded runs, and make them from runs.",
            "",
            "The format of policies: schemas/policy.md."
        },
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            EgressValidateCommand.class,
            EgressExplainCommand.class,
            EgressCheckCommand.class,
            EgressSuggestCommand.class,
            EgressImportCommand.class
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  blackbox egress suggest last > policy.yaml",
            "  blackbox egress explain policy.yaml https://api.example/v1/messages --method POST",
            "  blackbox egress check policy.yaml last nightly"
        })
public final class EgressCommand {}
