/// The log of runs, read whole and checked: tree, tiles, signatures, the keys that it tells of, and what it holds
/// about one run.
///
/// Over static files and public keys alone. Fails closed: a log that does not hold in one place is believed in none.
@NullMarked
package blackbox.evidence.tiles;

import org.jspecify.annotations.NullMarked;
