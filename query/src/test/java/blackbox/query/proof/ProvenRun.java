package blackbox.query.proof;

import blackbox.query.QueryException;
import blackbox.query.TestEvents;
import blackbox.query.TestLog;
import blackbox.query.TestRun;
import blackbox.query.store.Recordings;
import blackbox.schemas.RunId;
import blackbox.schemas.log.SignedNote;
import blackbox.schemas.sign.Ed25519Key;
import blackbox.schemas.trust.KeyStatement;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;

/// A small run of four batches with epoch keys, and a log of runs that holds its second and its last
/// checkpoint.
final class ProvenRun {

    static final Instant BEGUN = Instant.parse("2026-11-20T00:00:00Z");

    final TestRun run;
    final TestLog log;
    final Path data;

    ProvenRun(Path data) throws Exception {
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

    ProofTrust trust() {
        return ProofTrust.of(List.of(log.key.verifier()));
    }

    EventProver prover() throws IOException, QueryException {
        return EventProver.open(new Recordings(data), run.run);
    }

    EventProof prove(long index) throws IOException, QueryException, UnprovableException {
        return prover().prove(index);
    }

    ProofVerdict verify(EventProof proof) {
        return ProofVerifier.verify(ProofJson.encode(proof), trust());
    }
}
