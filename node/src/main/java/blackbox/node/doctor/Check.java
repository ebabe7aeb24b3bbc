package blackbox.node.doctor;

import org.jspecify.annotations.Nullable;

/// The result of one check.
///
/// @param name short and stable, for programs
/// @param state what was found
/// @param detail for example a version or a reason
/// @param mend how to fix it, null where nothing is missing
public record Check(
        String name, State state, String detail, @Nullable String mend) {

    /// What was found.
    public enum State {
        /// Present and usable.
        OK,
        /// Missing, and needed.
        MISSING,
        /// Missing, but nothing in use needs it.
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
