/// Keys as files: created with mode 0600 before the first octet is written, never sent anywhere.
///
/// Public keys lie beside them as verifier keys (C2SP signed-note) for whoever checks.
@NullMarked
package blackbox.recorder.keys;

import org.jspecify.annotations.NullMarked;
