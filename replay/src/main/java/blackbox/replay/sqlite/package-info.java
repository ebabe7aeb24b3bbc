/// Compares SQLite databases by what they say, not by how they are laid out: which program wrote first decides where a
/// row is in the file, and says nothing of what the file holds.
///
/// The files are claims of guests and may be hostile: everything is bounded, no page is read twice, and a file that
/// contradicts itself is none that can be compared in this way. No library, and nothing native, reads them. Knows
/// neither disks nor verdicts.
@NullMarked
package blackbox.replay.sqlite;

import org.jspecify.annotations.NullMarked;
