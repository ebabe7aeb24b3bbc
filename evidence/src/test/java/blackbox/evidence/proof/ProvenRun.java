package blackbox.evidence.proof;

import blackbox.evidence.EvidenceException;
import blackbox.evidence.TestEvents;
import blackbox.evidence.TestLog;
import blackbox.evidence.TestRun;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.trust.KeyStatement;
import blackbox.schemas.RunId;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;

/// A small run of four batches with epoch keys, and a log of runs that holds its second and its last
/// checkpoint.
public final class ProvenRun {

    static final Instant BEGUN = Instant.parse("2026-11-20T00:00:00Z");

    public final TestRun run;
    final TestLog log;
    final Path data;

    public ProvenRun(Path data) throws Exception {
        this(data, new RunId("01kaj3v4e0" + "0".repeat(16)));
    }

    ProvenRun(Path data, RunId id) throws Exception {
        this.data = data;
        this.log = new TestLog(data.resolve("log"));
        this.run = new TestRun(data, id, TestRun.newKey()).certified(log.key);
        TestEvents.smallBuild(run, 3);
        run.table(0, 2, "PARQUET_VERSION v2");
        run.spool(2, 4);
        log.add(begin(log.key));
        log.add(String.valueOf(run.certificate()));
        log.add("another leaf");
        log.add(run.batches.get(1).checkpoint());
        log.add("one more leaf");
        log.add(run.batches.get(3).checkpoint());
        log.publish();
    }

    static String begin(Ed25519Key key) {
        var statement = new KeyStatement(
                KeyStatement.Action.BEGIN, TestLog.ORIGIN, key.verifier(), KeyStatement.Role.LOG, BEGUN, null);
        return SignedNote.sign(statement.text(), key);
    }

    long size() {
        return run.batches.getLast().endIndex();
    }

    public ProofTrust trust() {
        return ProofTrust.of(List.of(log.key.verifier()));
    }

    EventProver prover() throws IOException, EvidenceException {
        return EventProver.open(Recordings.unchecked(data), run.run);
    }

    EventProof prove(long index) throws IOException, EvidenceException, UnprovableException {
        return prover().prove(index);
    }

    ProofVerdict verify(EventProof proof) {
        return ProofVerifier.verify(ProofJson.encode(proof), trust());
    }
}
