package blackbox.query.answer;

import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.RunReader;
import blackbox.query.run.RunFacts;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import java.io.IOException;
import java.util.ArrayList;

/// Reads a run once and gathers what it touched.
public final class TouchedCollector {

    private final FileCollector files = new FileCollector();
    private final ProcessCollector processes = new ProcessCollector();
    private final FlowCollector flows = new FlowCollector();
    private final PrivilegeCollector privileges = new PrivilegeCollector();
    private final LimitCollector limits = new LimitCollector();

    private TouchedCollector() {}

    /// What `run` touched, as far as it is recorded now.
    public static Touched collect(Recordings recordings, RunId run) throws IOException {
        var collector = new TouchedCollector();
        try (RunReader reader = RunReader.open(recordings, run, 0)) {
            while (reader.next()) {
                collector.see(reader.row(), reader.index());
            }
        }
        return collector.touched(RunFacts.read(recordings, run));
    }

    private void see(Row row, long index) {
        Kind kind = row.has(Column.KIND) ? Kind.ofCode(row.number(Column.KIND)) : null;
        if (kind == null || !row.has(Column.SOURCE)) {
            return;
        }
        files.see(kind, row);
        processes.see(kind, row);
        flows.see(kind, row);
        privileges.see(kind, row, index);
        limits.see(kind, row);
    }

    private Touched touched(RunFacts facts) {
        var all = new ArrayList<>(limits.limits(facts));
        all.addAll(files.limits());
        all.addAll(processes.limits());
        all.addAll(flows.limits());
        all.addAll(privileges.limits());
        return new Touched(
                files.files(), processes.programs(), flows.flows(), flows.linkLayer(), privileges.privileges(), all);
    }
}
