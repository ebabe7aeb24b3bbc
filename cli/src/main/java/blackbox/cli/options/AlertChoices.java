package blackbox.cli.options;

import blackbox.cli.exit.CommandException;
import blackbox.evidence.text.Printable;
import blackbox.node.alert.AlertOptions;
import blackbox.node.alert.RuleFiles;
import blackbox.recorder.outbound.HttpPoster;
import blackbox.rules.Level;
import blackbox.rules.RuleException;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// By which detection rules a run is watched, and what comes of it.
public final class AlertChoices {
    @Option(
            names = "--rules",
            paramLabel = "RULES",
            description =
                    "Watch the run by these rules in Sigma's format: 'agents' for those that Blackbox brings along, a"
                            + " file, or a folder. What they find is sealed as alerts. May be given more than once; see `blackbox rules --help`.")
    List<String> rules = new ArrayList<>();

    @Option(
            names = "--pause-on",
            paramLabel = "LEVEL",
            description = "Pause the run at an alert of this level or above: low, medium, high or critical.")
    @Nullable
    String pauseOn;

    @Option(
            names = "--kill-on",
            paramLabel = "LEVEL",
            description = "End the run at once at an alert of this level or above.")
    @Nullable
    String killOn;

    @Option(
            names = "--webhook",
            paramLabel = "URL",
            description =
                    "Post each alert there, signed as Standard Webhooks has it (default: $$BLACKBOX_WEBHOOK); `blackbox rules"
                            + " secret` prints the secret for the receiver.")
    @Nullable
    String webhook;

    /// What was chosen.
    ///
    /// @param say is told of rules that are left out
    public AlertOptions read(Consumer<String> say) {
        if (rules.isEmpty()) {
            if (pauseOn != null || killOn != null || webhook != null) {
                throw CommandException.badInput(
                        "--pause-on, --kill-on and --webhook are for alerts: add --rules agents");
            }
            return AlertOptions.NONE;
        }
        try {
            RuleFiles read = RuleFiles.read(rules);
            if (!read.wrong().isEmpty()) {
                throw CommandException.badInput(read.wrong().stream()
                        .map(wrong -> Printable.of(wrong.file() + ": " + wrong.why()))
                        .collect(Collectors.joining("\n")));
            }
            if (read.rules().isEmpty()) {
                throw CommandException.badInput("there is no rule that can be used in " + String.join(", ", rules));
            }
            if (!read.leftOut().isEmpty()) {
                say.accept(read.leftOut().size() + " rules are left out, for they ask for what is not recorded:"
                        + " `blackbox rules test` says which");
            }
            return new AlertOptions(
                    read.set(),
                    read.leftOut().size(),
                    level(pauseOn),
                    level(killOn),
                    webhook == null ? null : address());
        } catch (RuleException e) {
            throw CommandException.badInput(String.valueOf(e.getMessage()));
        } catch (IOException e) {
            throw CommandException.badInput("the rules cannot be read: " + e.getMessage());
        }
    }

    private @Nullable URI address() {
        String chosen = webhook == null ? System.getenv("BLACKBOX_WEBHOOK") : webhook;
        if (chosen == null || chosen.isEmpty()) {
            return null;
        }
        try {
            return HttpPoster.confidential(chosen, "alerts");
        } catch (IllegalArgumentException e) {
            throw CommandException.badInput((webhook == null ? "BLACKBOX_WEBHOOK: " : "--webhook: ") + e.getMessage());
        }
    }

    private static @Nullable Level level(@Nullable String word) {
        return word == null
                ? null
                : Level.of(word)
                        .orElseThrow(() ->
                                CommandException.badInput("there is no level '" + word + "'; choose " + Level.words()));
    }
}
