package blackbox.query.brief;

import org.jspecify.annotations.Nullable;

/// What became of a file in the whole run, as in a version control system's status.
///
/// @param path its name at the end, or the last that it had
/// @param was the name that the file had before the run, if it was renamed; otherwise null
/// @param by the program that changed it last, null if that is not known
/// @param bytesWritten in all, by the agent
public record FileChange(
        String path,
        Net net,
        @Nullable String was,
        @Nullable String by,
        long bytesWritten) {

    /// The difference between before and after.
    public enum Net {
        ADDED('A', "added"),
        MODIFIED('M', "modified"),
        DELETED('D', "deleted"),
        /// Written, and whether it was there before is not known.
        WRITTEN('W', "written"),
        /// Neither there before nor after.
        TEMPORARY('T', "temporary");

        private final char letter;
        private final String word;

        Net(char letter, String word) {
            this.letter = letter;
            this.word = word;
        }

        /// One letter, as `git status` has them.
        public char letter() {
            return letter;
        }

        public String word() {
            return word;
        }
    }
}
