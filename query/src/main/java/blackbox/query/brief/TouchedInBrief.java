package blackbox.query.brief;

import blackbox.evidence.store.Recordings;
import blackbox.query.answer.Touched;
import blackbox.query.answer.TouchedCollector;
import blackbox.query.answer.TouchedJson;
import blackbox.query.answer.TouchedPart;
import blackbox.query.answer.Whose;
import blackbox.query.run.RunFacts;
import blackbox.schemas.RunId;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.util.Set;

/// What a run touched.
///
/// @param touched everything, by whomever
/// @param brief what the agent did, the most important first
public record TouchedInBrief(Touched touched, Brief brief) {

    /// Reads the run once, as far as it is recorded now.
    public static TouchedInBrief collect(Recordings recordings, RunId run) throws IOException {
        var all = new TouchedCollector(Whose.ALL);
        var agent = new TouchedCollector(Whose.AGENT);
        var brief = new BriefCollector();
        RunFacts facts = TouchedCollector.read(recordings, run, (event, index) -> {
            all.see(event, index);
            agent.see(event, index);
            brief.see(event, index);
        });
        Touched touched = all.touched(facts);
        return new TouchedInBrief(touched, brief.brief(facts, agent.touched(facts), touched.limits()));
    }

    /// Writes both as one object: the parts of the first that are wanted, and the field `brief`.
    public void write(JsonGenerator out, Set<TouchedPart> parts) throws IOException {
        out.writeStartObject();
        TouchedJson.writeFields(out, touched, parts);
        out.writeFieldName("brief");
        BriefJson.write(out, brief);
        out.writeEndObject();
    }
}
