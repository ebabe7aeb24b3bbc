package blackbox.report;

import blackbox.evidence.verify.Requirement;
import blackbox.evidence.verify.Verification;
import blackbox.schemas.RunId;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.InputStream;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/// Controls of record-keeping, what of them a run is evidence for, and the command whose exit code says so.
/// Those that `verify` answers have been tried: they have its exit code.
///
/// @param document the whole
/// @param met how many of them `verify` ends with 0 for
/// @param unmet with 1
/// @param untried how many need another command
public record ControlMap(ObjectNode document, int met, int unmet, int untried) {
    private static final String RESOURCE = "controls.json";
    private static final String COMMAND = "command";
    private static final String REQUIRES = "requires";
    private static final String EXIT_CODE = "exitCode";

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final ObjectWriter WRITER = JSON.writer(SerializationFeature.INDENT_OUTPUT);

    /// The map for a run with this verification.
    ///
    /// @param triedAt when it was verified
    public static ControlMap of(RunId run, Verification verification, Instant triedAt) throws IOException {
        JsonNode shipped = shipped();
        ObjectNode whole = JSON.createObjectNode();
        whole.set("format", shipped.path("format"));
        whole.put("run", run.value());
        whole.put("triedAt", triedAt.toString());
        whole.set("about", shipped.path("about"));
        var controls = whole.putArray("controls");
        int met = 0;
        int unmet = 0;
        for (JsonNode each : shipped.path("controls")) {
            ObjectNode control = controls.addObject();
            for (String field : List.of("framework", "edition", "control", "asks", "kind")) {
                control.set(field, each.path(field));
            }
            control.put(COMMAND, command(each).replace("RUN", run.value()));
            if (each.has(REQUIRES)) {
                boolean holds = verification.holds()
                        && Requirement.unmet(Requirement.named(requires(each)), verification)
                                .isEmpty();
                control.put(EXIT_CODE, holds ? 0 : 1);
                met += holds ? 1 : 0;
                unmet += holds ? 0 : 1;
            } else {
                control.putNull(EXIT_CODE);
            }
            control.set("shows", each.path("shows"));
            control.set("doesNotShow", each.path("doesNotShow"));
        }
        return new ControlMap(whole, met, unmet, controls.size() - met - unmet);
    }

    /// The whole as JSON, indented.
    public byte[] json() throws IOException {
        return WRITER.writeValueAsBytes(document);
    }

    private static String command(JsonNode control) {
        if (!control.has(REQUIRES)) {
            return control.path(COMMAND).asText();
        }
        List<String> requires = requires(control);
        return "blackbox verify RUN" + (requires.isEmpty() ? "" : " --require " + String.join(",", requires));
    }

    private static List<String> requires(JsonNode control) {
        var names = new ArrayList<String>();
        control.path(REQUIRES).forEach(each -> names.add(each.asText()));
        return names;
    }

    private static JsonNode shipped() throws IOException {
        try (InputStream in = ControlMap.class.getResourceAsStream(RESOURCE)) {
            if (in == null) {
                throw new IllegalStateException("this build lacks " + RESOURCE);
            }
            return JSON.readTree(in);
        }
    }
}
