/// What a crash must not break: files that are replaced whole, folders whose names are durable, locks that end with the
/// process that holds them. And files that are read no further than a bound.
///
/// Depends on nothing of ours and on no library, and knows nothing about the content of the files.
@NullMarked
package blackbox.files;

import org.jspecify.annotations.NullMarked;
