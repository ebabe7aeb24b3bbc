package blackbox.recorder.keys;

import blackbox.evidence.log.NoteSigner;
import blackbox.recorder.RecorderException;
import java.nio.file.Path;
import java.util.List;
import java.util.SequencedMap;

/// A place that keeps long-term keys. The same contract test runs over all of them.
interface LogKeyStore {

    /// A key that was made or opened.
    ///
    /// @param signers one for each signature line, the classical one first
    /// @param settings what must stand in `log.conf` so that it is found again
    /// @param device what to let go of when the key is closed
    record Opened(List<NoteSigner> signers, SequencedMap<String, String> settings, AutoCloseable device) {}

    /// Makes a key. It is durable when this returns.
    ///
    /// @param settings what the store needs to know
    Opened create(String origin, SequencedMap<String, String> settings) throws RecorderException;

    /// Opens the key that `conf` speaks of. Its public key is compared with what stands there by the caller.
    Opened open(LogKeyConf conf) throws RecorderException;

    /// Destroys the private key, where that is possible: it gave way to another.
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

    /// Libraries wrap what went wrong; the innermost sentence is the one that says it.
    static String reason(Throwable e) {
        Throwable cause = e;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause.getMessage() == null ? cause.toString() : cause.getMessage();
    }
}
