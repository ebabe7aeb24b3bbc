package blackbox.query.export;

import blackbox.evidence.store.Recordings;
import blackbox.query.answer.LimitCollector;
import blackbox.query.answer.TouchedCollector;
import blackbox.query.run.RunFacts;
import blackbox.schemas.RunId;
import blackbox.schemas.row.Column;
import blackbox.schemas.view.EventView;
import java.io.IOException;
import java.util.EnumSet;
import java.util.List;

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
        var limits = new LimitCollector();
        RunFacts facts = TouchedCollector.read(recordings, run, EnumSet.allOf(Column.class), (event, index) -> {
            limits.see(event, index);
            export.see(event, index);
        });
        List<String> said = limits.limits(facts);
        export.end(facts, said);
        return new Written(facts.events(), said);
    }
}
