/// What `blackbox keys` does: replaces and revokes keys, in the folder and in the log of runs.
@NullMarked
package blackbox.node.keys;

import org.jspecify.annotations.NullMarked;
