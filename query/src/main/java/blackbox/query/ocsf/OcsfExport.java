package blackbox.query.ocsf;

import blackbox.query.answer.Programs;
import blackbox.query.export.EventExport;
import blackbox.query.export.JsonLines;
import blackbox.query.run.RunFacts;
import blackbox.schemas.RunId;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.NetView;
import blackbox.schemas.view.ProcessView;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.Writer;
import java.util.List;
import java.util.function.UnaryOperator;

/// A run as OCSF 1.8: a JSON object a line for every event, in order, and a last one with the run's limits.
/// `metadata.uid` is `RUN:INDEX`, and `blackbox prove` takes that index; `metadata.event_code` is the kind's
/// name. What OCSF has no field for is in `unmapped`. An event that no class fits is a Base Event.
public final class OcsfExport implements EventExport {

    private final Programs programs = new Programs();
    private final OcsfEvents events;
    private final JsonGenerator out;
    private final UnaryOperator<ObjectNode> form;
    private long lastNs;

    public OcsfExport(RunId run, Writer to) throws IOException {
        this(run, to, UnaryOperator.identity());
    }

    /// @param form what is written of an event
    OcsfExport(RunId run, Writer to, UnaryOperator<ObjectNode> form) throws IOException {
        this.form = form;
        events = new OcsfEvents(run, programs);
        out = JsonLines.to(to);
    }

    @Override
    public void see(EventView event, long index) throws IOException {
        if (event.isByHost()) {
            lastNs = Math.max(lastNs, event.atNs()); // a guest may date its events as it likes
        }
        if (event instanceof NetView.Syn syn) {
            programs.see(syn); // it says itself what the process runs
        }
        out.writeTree(form.apply(events.of(event, index)));
        if (event instanceof ProcessView process) {
            programs.see(process); // its own line names what the process ran until then
        }
    }

    @Override
    public void end(RunFacts facts, List<String> limits) throws IOException {
        out.writeTree(form.apply(events.limits(lastNs, facts, limits)));
        JsonLines.end(out);
    }
}
