package blackbox.replay.compare;

import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.RunReader;
import blackbox.query.run.RunFacts;
import blackbox.replay.divergence.EventCursor;
import blackbox.replay.divergence.EventSource;
import blackbox.replay.divergence.RunInputs;
import blackbox.replay.divergence.RunInputs.Input;
import blackbox.replay.divergence.Side;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import blackbox.schemas.row.Row;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.Map;

/// A run in the data folder, in the table or still in the spool, as one side of a comparison.
public final class RecordedSide {

    private RecordedSide() {}

    /// The run under its id, with what its first leaf says that it was started with.
    public static Side of(Recordings recordings, RunId run) throws IOException {
        RunFacts.Start start = RunFacts.read(recordings, run).start();
        return new Side(
                run.value(), events(recordings, run), start == null ? RunInputs.UNKNOWN : inputs(start.detail()));
    }

    /// The run's events as they are now.
    public static EventSource events(Recordings recordings, RunId run) {
        return from -> new ReaderCursor(RunReader.open(recordings, run, from));
    }

    /// What `run.open`'s detail says (`schemas/events.md`).
    public static RunInputs inputs(JsonNode detail) {
        var values = new EnumMap<Input, String>(Input.class);
        put(values, Input.IMAGE, detail.path("image").path("digest"));
        if (detail.has("snapshot")) {
            JsonNode snapshot = detail.path("snapshot");
            values.put(Input.SNAPSHOT, snapshot.isNull() ? "none" : snapshot.asText());
        }
        JsonNode start = detail.path("start");
        put(values, Input.QEMU, start.path("qemuSha256"));
        if (start.has("argv")) {
            values.put(Input.MACHINE, machine(start));
        }
        put(values, Input.COMMAND, detail.path("command"));
        if (detail.has("commandOctets")) {
            values.merge(Input.COMMAND, detail.path("commandOctets").toString(), (text, octets) -> text + " " + octets);
        }
        if (detail.has("user")) {
            values.put(
                    Input.SETTING,
                    detail.path("user").asText() + ", network "
                            + detail.path("network").asText());
        }
        put(values, Input.ENVIRONMENT, detail.path("environment"));
        put(values, Input.WORKSPACE, detail.path("workspace").path("sha256"));
        return new RunInputs(values);
    }

    private static String machine(JsonNode start) {
        String argv = start.path("argv").toString();
        return start.path("accelerator").asText() + ", "
                + start.path("memoryMib").asText() + " MiB, "
                + start.path("vcpus").asText() + " CPUs, kernel "
                + start.path("kernel").asText() + ", arguments "
                + Hash.sha256(argv.getBytes(StandardCharsets.UTF_8)).toString().substring(0, 16);
    }

    private static void put(Map<Input, String> values, Input input, JsonNode node) {
        if (!node.isMissingNode() && !node.isNull()) {
            values.put(input, node.isTextual() ? node.textValue() : node.toString());
        }
    }

    private record ReaderCursor(RunReader reader) implements EventCursor {
        @Override
        public boolean next() throws IOException {
            return reader.next();
        }

        @Override
        public long index() {
            return reader.index();
        }

        @Override
        public Row row() {
            return reader.row();
        }

        @Override
        public void close() throws IOException {
            reader.close();
        }
    }
}
