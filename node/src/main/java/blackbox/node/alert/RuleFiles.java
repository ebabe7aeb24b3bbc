package blackbox.node.alert;

import blackbox.files.BoundedFiles;
import blackbox.rules.Rule;
import blackbox.rules.RuleException;
import blackbox.rules.RuleSet;
import blackbox.rules.shipped.ShippedRules;
import blackbox.rules.sigma.SigmaReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/// Detection rules from where somebody says they are: `agents` for those that Blackbox brings along, a file, or a
/// folder with all below it whose names end in `.yml` or `.yaml`.
///
/// @param rules that can be used
/// @param leftOut that cannot, since they ask for what is not recorded
/// @param wrong that are no rules
public record RuleFiles(List<Rule> rules, List<Refused> leftOut, List<Refused> wrong) {
    /// The word for the rules that Blackbox brings along.
    public static final String AGENTS = "agents";

    private static final int FILES_MAX = 10_000;
    private static final int OCTETS_MAX = 1 << 20;

    /// A file that is not used.
    public record Refused(String file, String why) {}

    public RuleFiles {
        rules = List.copyOf(rules);
        leftOut = List.copyOf(leftOut);
        wrong = List.copyOf(wrong);
    }

    /// Reads rules.
    ///
    /// @throws IOException when something is not there, or cannot be read
    public static RuleFiles read(List<String> places) throws IOException {
        var rules = new ArrayList<Rule>();
        var leftOut = new ArrayList<Refused>();
        var wrong = new ArrayList<Refused>();
        Set<Path> files = new LinkedHashSet<>();
        for (String place : new LinkedHashSet<>(places)) {
            if (place.isBlank()) {
                throw new IOException("the name of a file or folder is empty");
            }
            if (place.equals(AGENTS)) {
                rules.addAll(ShippedRules.all());
            } else {
                files(Path.of(place))
                        .forEach(file -> files.add(file.toAbsolutePath().normalize()));
            }
        }
        Set<String> served = new HashSet<>();
        for (Path file : files) {
            SigmaReader.Read read = SigmaReader.readEach(file.toString(), BoundedFiles.readGiven(file, OCTETS_MAX));
            rules.addAll(read.rules());
            served.addAll(read.served());
            for (RuleException e : read.refused()) {
                (e.code() == RuleException.Code.UNSUPPORTED ? leftOut : wrong)
                        .add(new Refused(file.toString(), String.valueOf(e.getMessage())));
            }
        }
        leaveOutOrphans(rules, leftOut, served);
        return new RuleFiles(rules, leftOut, wrong);
    }

    /// Rules over rules that are not there, be it that these were left out, or are rules over rules themselves; and
    /// rules that only serve such rules, which would be told of by themselves otherwise.
    private static void leaveOutOrphans(List<Rule> rules, List<Refused> leftOut, Set<String> served) {
        Set<String> known = new HashSet<>();
        for (Rule rule : rules) {
            if (rule instanceof Rule.OfEvents) {
                known.addAll(names(rule));
            }
        }
        Set<String> needed = new HashSet<>();
        rules.removeIf(rule -> {
            if (!(rule instanceof Rule.OverRules over)) {
                return false;
            }
            if (known.containsAll(over.rules())) {
                needed.addAll(over.rules());
                return false;
            }
            if (!over.alone()) {
                served.addAll(over.rules());
            }
            var missing = new ArrayList<>(over.rules());
            missing.removeAll(known);
            leftOut.add(new Refused(
                    rule.about().file(),
                    "it is over " + String.join(", ", missing)
                            + ", and there is no rule of events by that id or name"));
            return true;
        });
        rules.removeIf(rule -> {
            boolean isOrphan = rule instanceof Rule.OfEvents
                    && names(rule).stream().anyMatch(served::contains)
                    && names(rule).stream().noneMatch(needed::contains);
            if (isOrphan) {
                leftOut.add(new Refused(rule.about().file(), "it only serves a rule that is left out"));
            }
            return isOrphan;
        });
    }

    private static List<String> names(Rule rule) {
        String name = rule.about().name();
        return name == null ? List.of(rule.about().id()) : List.of(rule.about().id(), name);
    }

    private static List<Path> files(Path place) throws IOException {
        if (!Files.isDirectory(place)) {
            return List.of(place);
        }
        try (Stream<Path> all = Files.walk(place)) {
            List<Path> found = all.filter(Files::isRegularFile)
                    .filter(file ->
                            file.toString().endsWith(".yml") || file.toString().endsWith(".yaml"))
                    .sorted()
                    .limit(FILES_MAX + 1L)
                    .toList();
            if (found.size() > FILES_MAX) {
                throw new IOException("there are more than " + FILES_MAX + " rules in " + place);
            }
            return found;
        } catch (UncheckedIOException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    /// Those that can be used, together.
    ///
    /// @throws RuleException when they do not go together
    public RuleSet set() throws RuleException {
        return RuleSet.of(rules);
    }
}
