package blackbox.node.doctor;

import org.jspecify.annotations.Nullable;

/// One thing that was looked at.
///
/// @param name short and stable, for programs
/// @param state what was found
/// @param detail what it is: a version, a reason
/// @param mend how to get it, null where nothing is missing
public record Check(
        String name, State state, String detail, @Nullable String mend) {

    /// What was found.
    public enum State {
        /// There and usable.
        OK,
        /// Not there; something needs it.
        MISSING,
        /// Not there; nothing that is asked for today needs it.
        ABSENT
    }

    static Check ok(String name, String detail) {
        return new Check(name, State.OK, detail, null);
    }

    static Check missing(String name, String detail, String mend) {
        return new Check(name, State.MISSING, detail, mend);
    }

    static Check absent(String name, String detail, String mend) {
        return new Check(name, State.ABSENT, detail, mend);
    }
}
