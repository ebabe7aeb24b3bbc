package blackbox.query.export;

import blackbox.query.answer.EventJson;
import blackbox.query.run.RunFacts;
import blackbox.schemas.view.EventView;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.Writer;
import java.util.List;

/// One JSON object a line for every event, as `blackbox events --json` prints it.
public final class JsonExport implements EventExport {

    private final JsonGenerator out;

    public JsonExport(Writer to) throws IOException {
        out = JsonLines.to(to);
    }

    @Override
    public void see(EventView event, long index) throws IOException {
        EventJson.write(out, index, event.row());
    }

    @Override
    public void end(RunFacts facts, List<String> limits) throws IOException {
        JsonLines.end(out);
    }
}
