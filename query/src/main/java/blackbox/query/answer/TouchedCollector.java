package blackbox.query.answer;

import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.RunReader;
import blackbox.query.run.RunFacts;
import blackbox.query.run.RunState;
import blackbox.query.sides.GuestAndHost;
import blackbox.query.sides.SidesCollector;
import blackbox.schemas.RunId;
import blackbox.schemas.row.Column;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.EventViews;
import blackbox.schemas.view.ProcessView;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.Set;

/// Reads a run once and gathers what it touched.
public final class TouchedCollector {

    private final Programs programs = new Programs();
    private final Acts acts = new Acts(programs, Acts.Rooms.ofOneAnswer());
    private final LimitCollector limits = new LimitCollector();
    private final SidesCollector sides = new SidesCollector();

    /// What none of the collectors asks for.
    private static final Set<Column> NOT_READ = EnumSet.of(
            Column.TID,
            Column.ENV,
            Column.MODE,
            Column.OFFSET_FIRST,
            Column.OFFSET_LAST,
            Column.PACKETS_OUT,
            Column.PACKETS_IN,
            Column.EVENTS,
            Column.BATCH,
            Column.PREVIOUS,
            Column.CONTAINER);

    static final Set<Column> READ = EnumSet.complementOf(EnumSet.copyOf(NOT_READ));

    private final Whose whose;

    /// A collector of somebody's acts.
    public TouchedCollector(Whose whose) {
        this.whose = whose;
    }

    /// What `run` touched, by whomever, as far as it is recorded now.
    public static Touched collect(Recordings recordings, RunId run) throws IOException {
        return collect(recordings, run, Whose.ALL);
    }

    /// What the acts of somebody in `run` touched.
    public static Touched collect(Recordings recordings, RunId run, Whose whose) throws IOException {
        var collector = new TouchedCollector(whose);
        RunFacts facts = read(recordings, run, collector::see);
        return collector.touched(facts);
    }

    /// Takes one event.
    @FunctionalInterface
    public interface Sink {
        void see(EventView event, long index) throws IOException;
    }

    /// Hands over all events of `run` that are recorded now.
    public static RunFacts read(Recordings recordings, RunId run, Sink sink) throws IOException {
        return read(recordings, run, READ, sink);
    }

    /// The same, with other columns.
    public static RunFacts read(Recordings recordings, RunId run, Set<Column> columns, Sink sink) throws IOException {
        var facts = new RunFacts.Collector(recordings, run);
        var views = new EventViews();
        try (RunReader reader = RunReader.open(recordings, run, 0, columns)) {
            while (reader.next()) {
                facts.see(reader.row(), reader.index());
                sink.see(views.of(reader.row()), reader.index());
            }
        }
        return facts.facts(null);
    }

    /// Takes the next event.
    public void see(EventView event, long index) {
        limits.see(event, index);
        sides.see(event, index);
        if (event instanceof ProcessView process) {
            programs.see(process);
        }
        if (whose.takes(event)) {
            acts.see(event, index);
        }
    }

    /// What was gathered.
    public Touched touched(RunFacts facts) {
        var all = new ArrayList<>(limits.limits(facts));
        all.addAll(acts.files.limits());
        all.addAll(acts.refusals.limits());
        all.addAll(acts.processes.limits());
        all.addAll(acts.flows.limits());
        all.addAll(acts.decisions.limits());
        all.addAll(acts.exchanges.limits());
        all.addAll(acts.secrets.limits());
        all.addAll(acts.budgets.limits());
        all.addAll(acts.privileges.limits());
        all.addAll(acts.calls.limits());
        GuestAndHost both = sides.result(facts.state() == RunState.CLOSED);
        all.addAll(both.limits());
        return new Touched(
                acts.files.files(),
                acts.refusals.refusals(),
                acts.processes.programs(),
                acts.flows.flows(),
                acts.flows.linkLayer(),
                acts.decisions.decisions(),
                acts.exchanges.requests(),
                acts.secrets.uses(),
                acts.budgets.uses(),
                acts.privileges.privileges(),
                acts.calls.calls(),
                both,
                all);
    }
}
