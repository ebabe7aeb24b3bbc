package blackbox.cli.rules;

import blackbox.cli.exit.CommandException;
import blackbox.node.alert.RuleFiles;
import blackbox.rules.RuleException;
import blackbox.rules.RuleSet;
import java.io.IOException;
import java.util.List;

/// Where rules are.
final class RulePlaces {
    private RulePlaces() {}

    /// Reads rules; those that Blackbox brings along, if no place is named.
    static RuleFiles read(List<String> places) {
        try {
            return RuleFiles.read(places.isEmpty() ? List.of(RuleFiles.AGENTS) : places);
        } catch (IOException e) {
            throw CommandException.badInput("the rules cannot be read: " + e.getMessage());
        }
    }

    /// Those that can be used, together.
    static RuleSet set(RuleFiles read) {
        try {
            return read.set();
        } catch (RuleException e) {
            throw CommandException.badInput(String.valueOf(e.getMessage()));
        }
    }
}
