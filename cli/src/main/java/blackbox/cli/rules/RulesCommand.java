package blackbox.cli.rules;

import picocli.CommandLine.Command;

/// `blackbox rules`.
@Command(
        name = "rules",
        description = {
            "Detection rules in Sigma's format: say whether they can be used, and find in recorded runs what they are about.",
            "",
            "RULES is 'agents' for the rules that Blackbox brings along, a file, or a folder. While a run is recorded,"
                    + " `blackbox record --rules RULES` watches it by them; what they find then is sealed as events of kind"
                    + " recorder.alert. The format: schemas/rules.md."
        },
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            RulesListCommand.class,
            RulesTestCommand.class,
            RulesHuntCommand.class,
            RulesSecretCommand.class,
            RulesSendCommand.class
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  blackbox rules list",
            "  blackbox rules test sigma/rules/linux",
            "  blackbox rules hunt --rules agents --rules my-rules/ last",
            "  blackbox record --rules agents --pause-on high --webhook https://alerts.example/blackbox -- ./agent",
            "  blackbox events last --kind recorder.alert"
        })
public final class RulesCommand {}
