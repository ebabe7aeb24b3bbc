package blackbox.node.travel;

import blackbox.node.record.TransparencyLog;
import blackbox.recorder.RecorderException;
import blackbox.recorder.keys.LogKeys;
import blackbox.schemas.Progress;
import blackbox.schemas.folder.DataFolder;
import java.nio.file.Files;

/// The log of runs of a data folder that has recorded nothing yet: verdicts on what it imports are signed in it, and
/// so say where they were made.
final class OwnLog {

    private OwnLog() {}

    /// Makes its key if there is neither a key nor a log, which may be somebody else's.
    static void make(DataFolder data, Progress progress) {
        try {
            if (LogKeys.conf(data.keys()) == null && !Files.exists(data.log())) {
                TransparencyLog.open(data).close();
            }
        } catch (RecorderException e) {
            progress.say("this data folder has no key for its log of runs, so verdicts on replays will not be signed: "
                    + e.getMessage());
        }
    }
}
