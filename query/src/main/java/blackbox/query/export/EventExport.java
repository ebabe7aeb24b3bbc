package blackbox.query.export;

import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.RunReader;
import blackbox.query.answer.LimitCollector;
import blackbox.query.run.RunFacts;
import blackbox.schemas.RunId;
import blackbox.schemas.row.Column;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.EventViews;
import java.io.IOException;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/// A form in which a run's events can be written, one after the other, in memory that does not grow with the
/// run. Owned by one thread.
public interface EventExport {

    /// Writes the next event.
    void see(EventView event, long index) throws IOException;

    /// Writes what follows the last event. The caller closes what was written to.
    ///
    /// @param limits what the recording may have missed, in sentences
    void end(RunFacts facts, List<String> limits) throws IOException;

    /// What was written.
    ///
    /// @param events how many events
    /// @param limits what the recording may have missed, in sentences
    record Written(long events, List<String> limits) {
        public Written {
            limits = List.copyOf(limits);
        }
    }

    /// Writes what is recorded of `run` now; reads it once.
    static Written write(Recordings recordings, RunId run, EventExport export) throws IOException {
        Set<Column> columns = EnumSet.allOf(Column.class);
        var facts = new RunFacts.Collector(recordings, run);
        var limits = new LimitCollector();
        var views = new EventViews();
        long events = 0;
        try (RunReader reader = RunReader.open(recordings, run, 0, columns)) {
            while (reader.next()) {
                facts.see(reader.row(), reader.index());
                EventView event = views.of(reader.row());
                limits.see(event, reader.index());
                export.see(event, reader.index());
                events++;
            }
        }
        RunFacts all = facts.facts(null);
        List<String> said = limits.limits(all);
        export.end(all, said);
        return new Written(events, said);
    }
}
