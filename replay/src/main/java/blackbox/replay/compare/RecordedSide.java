package blackbox.replay.compare;

import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.RunReader;
import blackbox.query.run.RunFacts;
import blackbox.query.run.RunOpening;
import blackbox.replay.divergence.cause.RunInputs;
import blackbox.replay.divergence.cause.RunInputs.Input;
import blackbox.replay.divergence.cause.Side;
import blackbox.replay.divergence.strand.EventCursor;
import blackbox.replay.divergence.strand.EventSource;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import blackbox.schemas.row.Row;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.List;

/// A run in the data folder, in the table or still in the spool, as one side of a comparison.
public final class RecordedSide {

    private static final ObjectMapper JSON = new ObjectMapper();

    private RecordedSide() {}

    /// The run under its id, with the inputs that its first leaf names.
    public static Side of(Recordings recordings, RunId run) throws IOException {
        return new Side(run.value(), events(recordings, run), inputs(RunFacts.read(recordings, run)));
    }

    /// The run's events so far.
    public static EventSource events(Recordings recordings, RunId run) {
        return from -> new ReaderCursor(RunReader.open(recordings, run, from));
    }

    private static RunInputs inputs(RunFacts facts) {
        try {
            return inputs(facts.opening());
        } catch (IllegalArgumentException e) {
            return RunInputs.UNKNOWN;
        }
    }

    /// The inputs of a run, as far as its first leaf names them.
    static RunInputs inputs(RunOpening opening) {
        var values = new EnumMap<Input, String>(Input.class);
        RunOpening.Image image = opening.image();
        if (image != null) {
            values.put(Input.IMAGE, image.digest().toString());
            Hash snapshot = opening.snapshot();
            values.put(Input.SNAPSHOT, snapshot == null ? "none" : snapshot.toString());
        }
        RunOpening.Machine machine = opening.machine();
        if (machine != null) {
            values.put(Input.QEMU, machine.qemuDigest().toString());
            values.put(Input.MACHINE, machine(machine));
        }
        RunOpening.Agent agent = opening.agent();
        if (!agent.command().isEmpty()) {
            values.put(Input.COMMAND, words(agent.command()));
            values.put(Input.ENVIRONMENT, words(agent.environment()));
        }
        if (agent.user() != null) {
            values.put(Input.SETTING, agent.user() + ", network " + agent.network());
        }
        Hash workspace = opening.inputs().workspace();
        if (workspace != null) {
            values.put(Input.WORKSPACE, workspace.toString());
        }
        return new RunInputs(values);
    }

    /// As JSON, in which a word with spaces differs from several words. What is not UTF-8 keeps its octets.
    private static String words(List<String> words) {
        var array = JSON.createArrayNode();
        words.forEach(array::add);
        return array.toString();
    }

    private static String machine(RunOpening.Machine machine) {
        String argv = words(machine.argv());
        return machine.accelerator() + ", "
                + machine.memoryMib() + " MiB, "
                + machine.vcpus() + " CPUs, kernel "
                + machine.kernel() + ", arguments "
                + Hash.sha256(argv.getBytes(StandardCharsets.UTF_8)).toString().substring(0, 16);
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
