package blackbox.query.answer;

import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.RunReader;
import blackbox.query.run.RunFacts;
import blackbox.schemas.RunId;
import blackbox.schemas.row.Column;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.EventViews;
import blackbox.schemas.view.FileView;
import blackbox.schemas.view.ProcessView;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.Set;

/// Reads a run once and gathers what it touched.
public final class TouchedCollector {

    private final FileCollector files = new FileCollector();
    private final RefusalCollector refusals = new RefusalCollector();
    private final ProcessCollector processes = new ProcessCollector();
    private final FlowCollector flows = new FlowCollector();
    private final PrivilegeCollector privileges = new PrivilegeCollector();
    private final LimitCollector limits = new LimitCollector();

    /// What none of the collectors asks for.
    private static final Set<Column> NOT_READ = EnumSet.of(
            Column.TID,
            Column.ENV,
            Column.MODE,
            Column.OFFSET_FIRST,
            Column.OFFSET_LAST,
            Column.PACKETS_OUT,
            Column.PACKETS_IN,
            Column.DNS_TYPE,
            Column.EVENTS,
            Column.BATCH,
            Column.PREVIOUS);

    private static final Set<Column> READ = EnumSet.complementOf(EnumSet.copyOf(NOT_READ));

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
        void see(EventView event, long index);
    }

    /// Hands over all events of `run` that are recorded now.
    public static RunFacts read(Recordings recordings, RunId run, Sink sink) throws IOException {
        var facts = new RunFacts.Collector(recordings, run);
        var views = new EventViews();
        try (RunReader reader = RunReader.open(recordings, run, 0, READ)) {
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
        if (event instanceof ProcessView process) {
            refusals.learn(process);
        }
        if (!whose.takes(event)) {
            return;
        }
        files.see(event);
        if (event instanceof FileView file) {
            refusals.see(file, index);
        }
        processes.see(event);
        flows.see(event);
        privileges.see(event, index);
    }

    /// What was gathered.
    public Touched touched(RunFacts facts) {
        var all = new ArrayList<>(limits.limits(facts));
        all.addAll(files.limits());
        all.addAll(refusals.limits());
        all.addAll(processes.limits());
        all.addAll(flows.limits());
        all.addAll(privileges.limits());
        return new Touched(
                files.files(),
                refusals.refusals(),
                processes.programs(),
                flows.flows(),
                flows.linkLayer(),
                privileges.privileges(),
                all);
    }
}
