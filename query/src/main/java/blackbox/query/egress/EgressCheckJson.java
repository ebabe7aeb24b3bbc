package blackbox.query.egress;

import blackbox.policy.decide.Decision;
import blackbox.policy.decide.Need;
import blackbox.query.egress.EgressCheck.JudgedFlow;
import blackbox.query.egress.EgressCheck.JudgedName;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.util.List;
import java.util.Locale;

/// Checks as JSON, in the form of the command-line contract.
public final class EgressCheckJson {

    private EgressCheckJson() {}

    /// Writes the checks of several runs under one policy.
    ///
    /// @param digest of the policy
    public static void write(JsonGenerator out, String digest, List<EgressCheck> checks) throws IOException {
        out.writeStartObject();
        out.writeStringField("policy", digest);
        out.writeBooleanField("holds", checks.stream().allMatch(EgressCheck::holds));
        out.writeArrayFieldStart("runs");
        for (EgressCheck check : checks) {
            run(out, check);
        }
        out.writeEndArray();
        out.writeEndObject();
    }

    private static void run(JsonGenerator out, EgressCheck check) throws IOException {
        out.writeStartObject();
        out.writeStringField("run", check.run().value());
        out.writeBooleanField("holds", check.holds());
        out.writeNumberField("refused", check.refused());
        out.writeNumberField("notJudged", check.notJudged());
        out.writeNumberField("unanswered", check.unanswered());
        flows(out, "flows", check.flows());
        flows(out, "attempts", check.attempts());
        out.writeArrayFieldStart("names");
        for (JudgedName judged : check.names()) {
            out.writeStartObject();
            out.writeStringField("name", judged.name().name());
            out.writeStringField("type", judged.name().type());
            out.writeNumberField("index", judged.name().index());
            out.writeNumberField("count", judged.name().count());
            decision(out, judged.decision());
            out.writeEndObject();
        }
        out.writeEndArray();
        out.writeArrayFieldStart("limits");
        for (String limit : check.limits()) {
            out.writeString(limit);
        }
        out.writeEndArray();
        out.writeEndObject();
    }

    private static void flows(JsonGenerator out, String name, List<JudgedFlow> flows) throws IOException {
        out.writeArrayFieldStart(name);
        for (JudgedFlow judged : flows) {
            flow(out, judged);
        }
        out.writeEndArray();
    }

    private static void flow(JsonGenerator out, JudgedFlow judged) throws IOException {
        RecordedFlow flow = judged.flow();
        out.writeStartObject();
        out.writeStringField("protocol", flow.peer().protocol());
        out.writeStringField("host", flow.peer().host());
        out.writeStringField("claimed", flow.peer().claimed());
        out.writeObjectFieldStart("remote");
        out.writeStringField("ip", flow.peer().ip());
        if (flow.peer().port() != null) {
            out.writeNumberField("port", flow.peer().port());
        }
        out.writeEndObject();
        out.writeStringField("exe", flow.exe());
        out.writeNumberField("index", flow.index());
        out.writeNumberField("count", flow.count());
        out.writeNumberField("bytesOut", flow.bytesOut());
        out.writeNumberField("bytesIn", flow.bytesIn());
        out.writeStringField("note", judged.note());
        Decision decision = judged.decision();
        if (decision != null) {
            decision(out, decision);
        } else {
            out.writeStringField("verdict", judged.verdict());
        }
        out.writeEndObject();
    }

    /// The fields of a decision, in the object that is open.
    public static void decision(JsonGenerator out, Decision decision) throws IOException {
        out.writeStringField("stage", decision.stage().word());
        out.writeStringField("verdict", decision.verdict().word());
        out.writeStringField("rule", decision.rule());
        out.writeStringField("reason", decision.reason());
        out.writeArrayFieldStart("needs");
        for (Need need : decision.needs()) {
            out.writeString(need.name().toLowerCase(Locale.ROOT));
        }
        out.writeEndArray();
    }
}
