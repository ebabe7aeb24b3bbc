package blackbox.query.why;

/// When a tool can have run: from when its block had passed to the guest to when the request began that
/// brought its result. A request's head is sent when its body is known, so that bound is that of the head,
/// not of the end of the body, which a client could stretch. On the host's clock, in nanoseconds since
/// 1970.
public record Window(long fromNs, long toNs, End end) {

    /// What ends it.
    public enum End {
        /// The result was brought.
        RESULT("result"),
        /// No result was brought: it lasts as long as the process that asked, and the run.
        NO_RESULT("no-result"),
        /// The result was brought before the tool was asked for: nothing is in it.
        BEFORE_ASKED("before-asked"),
        /// The provider runs the tool itself, and nothing of it happens here.
        BY_PROVIDER("by-provider");

        private final String word;

        End(String word) {
            this.word = word;
        }

        /// As it is written in an answer.
        public String word() {
            return word;
        }
    }

    /// Whether that time is in it.
    ///
    /// @param tolerance by how much a guest's time may be off
    boolean holds(long atNs, Tolerance tolerance) {
        return switch (end) {
            case RESULT, NO_RESULT -> atNs >= fromNs - tolerance.earlyNs() && atNs <= toNs + tolerance.lateNs();
            case BEFORE_ASKED, BY_PROVIDER -> false;
        };
    }
}
