package blackbox.recorder.keys;

import blackbox.recorder.RecorderException;
import blackbox.schemas.Progress;
import java.nio.file.Path;
import java.time.Duration;

/// The key and certificate with which reports are signed unless their author names others: a pair that is
/// made here and kept in the data folder's `keys/` (`schemas/keys.md`). It signs nothing else, and vouches
/// for no record.
public final class ReportKeyFiles {

    private static final String CERTIFICATE = "report.crt";
    private static final String KEY = "report.key";
    private static final Duration VALID = Duration.ofDays(3 * 365);

    /// So that a report's certificate holds for longer than logs have to be kept, without a time stamp as
    /// well.
    private static final Duration RENEWED_BEFORE_END = Duration.ofDays(365);

    private ReportKeyFiles() {}

    /// Reads the pair, or makes one: if there is none yet, if it is about to expire, or if a crash left
    /// halves of two.
    ///
    /// @param progress is told of a pair that is made, with its fingerprint and why
    /// @throws RecorderException when the files cannot be read or written, or others may read the key
    public static CertifiedKey loadOrCreate(Path folder, KeyAccess access, Progress progress) throws RecorderException {
        LogKeyConf conf = LogKeys.conf(folder);
        String name = "Blackbox reports" + (conf == null ? "" : " of " + conf.origin());
        return new OwnPair(
                        folder.resolve(CERTIFICATE),
                        folder.resolve(KEY),
                        VALID,
                        RENEWED_BEFORE_END,
                        true,
                        "reports",
                        "readers of earlier reports")
                .loadOrCreate(name, new SelfSigned.Purpose.Documents(), access, progress);
    }
}
