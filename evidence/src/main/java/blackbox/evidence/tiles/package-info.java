/// The log of runs, read completely and checked: tree, tiles, signatures, the keys that it names, and its
/// leaves about one run.
///
/// Works on static files and public keys alone. Fails closed: a log that does not hold in one place is not
/// accepted at all.
@NullMarked
package blackbox.evidence.tiles;

import org.jspecify.annotations.NullMarked;
