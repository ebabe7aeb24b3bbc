package blackbox.query.sql;

import blackbox.evidence.EvidenceException;
import blackbox.evidence.proof.EventProof;
import blackbox.evidence.proof.EventProver;
import blackbox.evidence.proof.ProofJson;
import blackbox.evidence.proof.UnprovableException;
import blackbox.evidence.store.Recordings;
import blackbox.schemas.RunId;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Adds proofs to the rows of a query's result: a row with the columns `run` and `index` comes from an event,
/// and gets that event's proof. Owned by one thread.
public final class ProofColumn {

    /// The field's name.
    public static final String NAME = "proof";

    private static final int RUNS_KEPT = 8;

    private final Recordings recordings;
    private final Map<RunId, EventProver> provers = new LinkedHashMap<>(RUNS_KEPT, 0.75f, true);
    private long rows;
    private long without;
    private @Nullable String unprovable;

    public ProofColumn(Recordings recordings) {
        this.recordings = recordings;
    }

    /// Writes the field `proof` of a row: the proof, or null if it has none.
    public void write(JsonGenerator out, List<String> names, List<@Nullable Object> values) throws IOException {
        rows++;
        EventProof proof = proof(names, values);
        out.writeFieldName(NAME);
        if (proof == null) {
            without++;
            out.writeNull();
        } else {
            ProofJson.write(out, proof);
        }
    }

    private @Nullable EventProof proof(List<String> names, List<@Nullable Object> values) throws IOException {
        int run = names.indexOf("run");
        int index = names.indexOf("index");
        boolean fromEvent = run >= 0
                && index >= 0
                && values.get(run) instanceof String
                && (values.get(index) instanceof Long || values.get(index) instanceof Integer);
        if (!fromEvent) {
            return null;
        }
        try {
            return prover(new RunId(String.valueOf(values.get(run))))
                    .prove(Long.parseLong(String.valueOf(values.get(index))));
        } catch (UnprovableException e) {
            unprovable = e.getMessage();
            return null;
        } catch (EvidenceException | IllegalArgumentException e) {
            return null; // a run or an index that the query made up
        }
    }

    private EventProver prover(RunId run) throws IOException, EvidenceException {
        EventProver prover = provers.get(run);
        if (prover == null) {
            prover = EventProver.open(recordings, run);
            provers.put(run, prover);
            if (provers.size() > RUNS_KEPT) {
                provers.remove(provers.keySet().iterator().next());
            }
        }
        return prover;
    }

    /// How many rows there were.
    public long rows() {
        return rows;
    }

    /// How many of them have no proof.
    public long without() {
        return without;
    }

    /// Why an existing event could not be proven, because the recording was changed; or null.
    public @Nullable String unprovable() {
        return unprovable;
    }
}
