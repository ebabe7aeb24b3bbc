package blackbox.recorder.keys;

import blackbox.evidence.log.NoteSigner;
import blackbox.recorder.RecorderException;
import java.nio.file.Path;
import java.util.List;
import java.util.SequencedMap;

/// A place that stores long-term keys. The same contract test runs for all of them.
interface LogKeyStore {

    /// A key that was created or opened.
    ///
    /// @param signers one for each signature line, the classical one first
    /// @param settings what `log.conf` must contain so that it is found again
    /// @param device what to release when the key is closed
    record Opened(List<NoteSigner> signers, SequencedMap<String, String> settings, AutoCloseable device) {}

    /// Creates a key. It is durable when this returns.
    ///
    /// @param settings what the store needs to know
    Opened create(String origin, SequencedMap<String, String> settings) throws RecorderException;

    /// Opens the key that `conf` describes. The caller compares its public key with the one in `conf`.
    Opened open(LogKeyConf conf) throws RecorderException;

    /// Destroys the private key, which has been replaced, if that is possible.
    void destroy(LogKeyConf conf) throws RecorderException;

    static LogKeyStore of(StoreKind kind, Path folder, KeyAccess access) {
        return switch (kind) {
            case FILE -> new FileKeyStore(folder, access);
            case PKCS11 -> new Pkcs11KeyStore(access);
            case TPM -> new TpmKeyStore(folder);
        };
    }

    static RecorderException failed(String what, Exception e) {
        return new RecorderException(RecorderException.Code.KEY, what + ": " + reason(e), e);
    }

    /// Libraries wrap the cause of a failure; the innermost message is the one that names it.
    static String reason(Throwable e) {
        Throwable cause = e;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause.getMessage() == null ? cause.toString() : cause.getMessage();
    }
}
