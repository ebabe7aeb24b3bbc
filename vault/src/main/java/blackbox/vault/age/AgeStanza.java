package blackbox.vault.age;

import java.util.List;

/// How one recipient gets the file's key: a line of words, the first of which is the kind, and octets.
///
/// @param body at most [#BODY_BYTES_MAX]
record AgeStanza(List<String> words, byte[] body) {

    /// None of the kinds that are known here has more than 32.
    static final int BODY_BYTES_MAX = 4_096;

    AgeStanza {
        words = List.copyOf(words);
        if (words.isEmpty() || body.length > BODY_BYTES_MAX) {
            throw new IllegalArgumentException("a stanza has a kind, and at most " + BODY_BYTES_MAX + " octets");
        }
    }

    String kind() {
        return words.getFirst();
    }
}
