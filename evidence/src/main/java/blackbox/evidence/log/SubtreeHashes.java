package blackbox.evidence.log;

import blackbox.schemas.Hash;
import java.io.IOException;

/// Where the hashes of a tree's complete subtrees come from: tiles, a table, memory. What it returns is not
/// trusted: a proof made from it verifies or does not.
@FunctionalInterface
public interface SubtreeHashes {

    /// The root over the `2^level` leaves from `index * 2^level` on. Level 0 is the leaves' own hashes.
    ///
    /// @throws IOException when it is not available
    Hash at(int level, long index) throws IOException;
}
