package blackbox.recorder.keys;

import blackbox.recorder.RecorderException;
import java.io.Console;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Where passphrases and PINs come from: a file that the environment names (which may be `/dev/fd/N`), or the
/// person at the terminal. Never the command line or the environment itself, which others can read.
public interface Secrets {

    /// The passphrase of key files.
    String PASSPHRASE = "BLACKBOX_PASSPHRASE_FILE";

    /// The PIN of a PKCS#11 token.
    String PIN = "BLACKBOX_PIN_FILE";

    /// Whether a file is named, which means that a new key file is to be encrypted.
    boolean isGiven(String variable);

    /// The secret itself; the caller clears it.
    ///
    /// @param variable [#PASSPHRASE] or [#PIN]
    /// @param what what it unlocks, for people
    /// @throws RecorderException when there is none
    char[] read(String variable, String what) throws RecorderException;

    /// Secrets from an environment and, if there is one, a terminal.
    static Secrets of(Map<String, String> environment, @Nullable Console console) {
        return new Secrets() {
            @Override
            public boolean isGiven(String variable) {
                return environment.containsKey(variable);
            }

            @Override
            public char[] read(String variable, String what) throws RecorderException {
                String file = environment.get(variable);
                if (file != null) {
                    return fromFile(Path.of(file), what);
                }
                char[] typed = console == null ? null : console.readPassword("%s: ", what);
                if (typed == null || typed.length == 0) {
                    throw new RecorderException(
                            RecorderException.Code.KEY,
                            "no " + what + " was given: put it into a file and name the file in " + variable);
                }
                return typed;
            }
        };
    }

    private static char[] fromFile(Path file, String what) throws RecorderException {
        try {
            char[] secret = SecretFile.characters(file);
            if (secret.length == 0) {
                throw new RecorderException(
                        RecorderException.Code.KEY, "the file " + file + " with the " + what + " is empty");
            }
            return secret;
        } catch (IOException e) {
            throw new RecorderException(
                    RecorderException.Code.KEY, "cannot read the " + what + " from " + file + ": " + e.getMessage(), e);
        }
    }
}
