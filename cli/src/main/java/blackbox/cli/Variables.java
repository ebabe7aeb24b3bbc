package blackbox.cli;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// `--env K=V`, several times. Not left to picocli, which interprets quotes in a value and prints what it
/// cannot parse: values are secrets.
final class Variables {
    private Variables() {}

    /// The values by name; the last of a name counts.
    ///
    /// @param given each `K=V`, as [blackbox.schemas.OctetText]
    /// @throws CommandException when one has no name or no value; it does not repeat what was given
    static Map<String, String> of(List<String> given) {
        var variables = new LinkedHashMap<String, String>();
        for (String each : given) {
            int equals = each.indexOf('=');
            if (equals <= 0) {
                throw CommandException.badInput("--env takes NAME=VALUE");
            }
            variables.put(each.substring(0, equals), each.substring(equals + 1));
        }
        return variables;
    }
}
