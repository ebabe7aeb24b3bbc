package blackbox.evidence.log;

import blackbox.schemas.Hash;
import java.io.IOException;

/// Where the hashes of a tree's complete subtrees come from: tiles, a table, memory. What it gives is not
/// trusted: a proof made from it holds or does not.
@FunctionalInterface
public interface SubtreeHashes {

    /// The root over the `2^level` leaves from `index * 2^level` on. Level 0 is the leaves' own hashes.
    ///
    /// @throws IOException when it cannot be had
    Hash at(int level, long index) throws IOException;
}
