package blackbox.recorder.keys;

import blackbox.recorder.RecorderException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/// A store of long-term keys that a test can use: what to options for, and the secrets that open it.
interface TestStore {

    String SECRET = "correct horse battery staple";

    StoreKind kind();

    /// What the store needs to know.
    default SequencedMap<String, String> settings() {
        return new LinkedHashMap<>();
    }

    default Secrets secrets() {
        return given(Map.of());
    }

    default LogKeys.NewKeyOptions options(@Nullable Duration validFor) {
        return new LogKeys.NewKeyOptions(kind(), settings(), validFor);
    }

    /// Exactly these secrets, by the variable that would name their file.
    static Secrets given(Map<String, String> secrets) {
        return new Secrets() {
            @Override
            public boolean isGiven(String variable) {
                return secrets.containsKey(variable);
            }

            @Override
            public char[] read(String variable, String what) throws RecorderException {
                String secret = secrets.get(variable);
                if (secret == null) {
                    throw new RecorderException(RecorderException.Code.KEY, "no " + what);
                }
                return secret.toCharArray();
            }
        };
    }

    /// Files without a passphrase.
    record PlainFile() implements TestStore {
        @Override
        public StoreKind kind() {
            return StoreKind.FILE;
        }
    }

    /// Files with one.
    record EncryptedFile() implements TestStore {
        @Override
        public StoreKind kind() {
            return StoreKind.FILE;
        }

        @Override
        public Secrets secrets() {
            return given(Map.of(Secrets.PASSPHRASE, SECRET));
        }
    }
}
