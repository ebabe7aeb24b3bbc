package blackbox.query.brief;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// Something that an auditor would want to see first.
///
/// @param what `refused`, `secret` or `privilege`
/// @param act in words: `read /etc/shadow`
/// @param by the program and process number, as `cat (139)`; null if that is not known
/// @param why it failed, as the name of the errno; null if it did not
/// @param index of the first such event
/// @param count how often
public record Notable(
        What what,
        String act,
        @Nullable String by,
        @Nullable String why,
        long index,
        long count) {

    /// In the order in which they are shown.
    public enum What {
        REFUSED,
        SECRET,
        PRIVILEGE;

        /// The word that is shown.
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
