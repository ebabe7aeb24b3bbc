/// The names of the data folder: what lies where in it.
///
/// Names only; nothing here looks at a disk.
@NullMarked
package blackbox.schemas.folder;

import org.jspecify.annotations.NullMarked;
