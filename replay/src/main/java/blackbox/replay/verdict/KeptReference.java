package blackbox.replay.verdict;

import blackbox.schemas.Hash;

/// Names the re-execution that a verdict is about, if it was kept.
///
/// @param name of its folder, eight hexadecimal digits
/// @param sha256 of the document that says what it consists of
public record KeptReference(String name, Hash sha256) {
    public KeptReference {
        if (!name.matches("[0-9a-f]{8}")) {
            throw new IllegalArgumentException("'" + name + "' is no name of a kept execution");
        }
    }
}
