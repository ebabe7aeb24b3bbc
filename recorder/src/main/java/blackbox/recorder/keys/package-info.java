/// Private keys and where they are stored: files of mode 0600, PKCS#11 tokens, this machine's TPM. They are
/// never sent anywhere.
///
/// [blackbox.recorder.keys.LogKeys] provides the long-term key that signs the log of runs;
/// [blackbox.recorder.keys.KeyFile] a plain key for a role. Public keys are stored beside them as verifier
/// keys (C2SP signed-note) for those who verify. Bouncy Castle is used for PEM, PKCS#8 and certificates, and
/// for no signature on a note.
@NullMarked
package blackbox.recorder.keys;

import org.jspecify.annotations.NullMarked;
