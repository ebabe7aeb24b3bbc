/// What a crash must not break: files that are replaced whole, folders whose names are durable, locks that end with the
/// process that holds them.
///
/// Depends on nothing of ours and on no library, and knows nothing of what the files hold.
@NullMarked
package blackbox.files;

import org.jspecify.annotations.NullMarked;
