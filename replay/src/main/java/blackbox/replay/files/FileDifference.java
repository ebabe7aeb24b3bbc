package blackbox.replay.files;

import blackbox.schemas.row.Text;

/// How a file that a replay left differs from the one that the run left. Says nothing of contents but lengths and
/// digests.
///
/// @param path from the guest's root, in the recording; that in the replay if only that has it
/// @param expected in words, what the run left
/// @param actual in words, what the replay left
/// @param octet the first one that differs, counted from 0; -1 unless it is the content that differs
public record FileDifference(Text path, How how, String expected, String actual, long octet) {
    public FileDifference {
        if (octet < -1 || octet >= 0 != (how == How.CONTENT)) {
            throw new IllegalArgumentException(how + " cannot first differ in octet " + octet);
        }
    }

    /// What differs. A name that both have is looked at in the order of these; of one whose type differs nothing
    /// else is said.
    public enum How {
        /// Only the run made, changed or deleted what has this name.
        MISSING,
        /// Only the replay did.
        EXTRA,
        /// One is a file and the other a folder, one is deleted and the other is there, or a device is another one.
        TYPE,
        /// The lower twelve bits of the mode.
        MODE,
        /// User or group.
        OWNER,
        /// An extended attribute, such as an access list or a capability, or that a folder hides what the image
        /// has in its place.
        ATTRIBUTE,
        /// Where a symbolic link leads.
        TARGET,
        /// The length of a file.
        SIZE,
        /// The octets of a file, of the same length.
        CONTENT
    }
}
