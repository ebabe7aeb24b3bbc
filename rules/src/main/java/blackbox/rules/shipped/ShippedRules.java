package blackbox.rules.shipped;

import blackbox.rules.Rule;
import blackbox.rules.RuleException;
import blackbox.rules.sigma.SigmaReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/// Rules about what agents should not do unseen, in the same format as anybody's.
public final class ShippedRules {

    /// Their files, which are resources beside this class.
    public static final List<String> FILES = List.of(
            "blackbox-attacked.yml",
            "budget-spent.yml",
            "control-lost.yml",
            "deleted-much.yml",
            "new-program-run.yml",
            "refused-often.yml",
            "root-gained.yml",
            "secret-misused.yml",
            "secret-read-then-sent.yml",
            "written-outside.yml");

    private ShippedRules() {}

    public static List<Rule> all() {
        var rules = new ArrayList<Rule>();
        for (String file : FILES) {
            try (InputStream in = ShippedRules.class.getResourceAsStream(file)) {
                if (in == null) {
                    throw new IllegalStateException(file + " is missing in this build");
                }
                rules.addAll(SigmaReader.read(file, in.readAllBytes()));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (RuleException e) {
                throw new IllegalStateException(file + ": " + e.getMessage(), e);
            }
        }
        return rules;
    }
}
