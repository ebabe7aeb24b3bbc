/// The layout of the data folder: the name of everything in it.
///
/// Names only; nothing here accesses a disk.
@NullMarked
package blackbox.schemas.folder;

import org.jspecify.annotations.NullMarked;
