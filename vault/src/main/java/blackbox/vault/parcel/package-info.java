/// One run with all that a replay of it needs, in one file: `schemas/parcel.md`. Written and read in one pass; what
/// is in memory does not depend on how long it is.
///
/// Checks the file's form, and that it is whole. What the parts are worth is for others to say.
@NullMarked
package blackbox.vault.parcel;

import org.jspecify.annotations.NullMarked;
