package blackbox.node.record;

import blackbox.evidence.store.TransparencyLogReader;
import blackbox.evidence.tiles.CheckedLog;
import blackbox.ingest.check.Ownership;
import blackbox.node.data.LocalTrust;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Set;

/// The runs that this data folder's own log of runs has certified, which it does before a run begins. Reads
/// the log again when it has grown; while it cannot be read, or does not hold, every run counts as its own.
/// Owned by one thread.
final class OwnRuns implements Ownership {

    private final DataFolder data;
    private final TransparencyLogReader log;
    private String head = "";
    private Set<RunId> certified = Set.of();

    OwnRuns(DataFolder data) {
        this.data = data;
        this.log = new TransparencyLogReader(data.log());
    }

    @Override
    public boolean owns(RunId run) {
        if (Files.exists(data.runs(run)) || certified.contains(run)) {
            return true;
        }
        String now = CheckedLog.headOf(log);
        if (now.equals(head) && !now.isEmpty()) {
            return false;
        }
        try {
            return switch (CheckedLog.readSettled(log, new LocalTrust(data).trustedKeys(), null)) {
                case CheckedLog.Holds(CheckedLog holds) -> {
                    certified = Set.copyOf(holds.runs().keySet());
                    head = now;
                    yield certified.contains(run);
                }
                case CheckedLog.Absent _ -> false;
                case CheckedLog.Broken _ -> true;
            };
        } catch (IOException e) {
            return true;
        }
    }
}
