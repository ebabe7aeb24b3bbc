/// How a command ends: its exit code, and the one sentence that says why it failed.
///
/// Depends on nothing of ours; the other packages of the cli throw what is here, and `Main` alone turns it into
/// the end of the process. It never decides whether something has failed.
@NullMarked
package blackbox.cli.exit;

import org.jspecify.annotations.NullMarked;
