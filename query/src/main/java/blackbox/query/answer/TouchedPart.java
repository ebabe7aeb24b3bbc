package blackbox.query.answer;

import blackbox.query.QueryException;
import blackbox.query.QueryException.Code;
import java.util.Collection;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/// The parts of what a run touched, in the order in which they are reported.
public enum TouchedPart {
    FILES,
    PROCESSES,
    EGRESS,
    PRIVILEGES,
    CALLS;

    /// As users write it.
    public String partName() {
        return name().toLowerCase(Locale.ROOT);
    }

    /// Those with these names.
    ///
    /// @throws QueryException when one has another name
    public static Set<TouchedPart> named(Collection<String> names) throws QueryException {
        var parts = EnumSet.noneOf(TouchedPart.class);
        for (String name : names) {
            try {
                parts.add(valueOf(name.toUpperCase(Locale.ROOT)));
            } catch (IllegalArgumentException e) {
                throw new QueryException(
                        Code.BAD_INPUT,
                        "'" + name + "' is not a part; choose files, processes, egress, privileges or calls",
                        e);
            }
        }
        return parts;
    }
}
