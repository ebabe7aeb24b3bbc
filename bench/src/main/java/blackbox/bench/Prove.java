package blackbox.bench;

import blackbox.bench.result.BenchResult;
import blackbox.bench.subject.Folders;
import blackbox.bench.subject.OpensslSpeed;
import blackbox.bench.subject.SealedRun;
import blackbox.evidence.proof.EventProof;
import blackbox.evidence.proof.EventProver;
import blackbox.evidence.proof.ProofJson;
import blackbox.evidence.proof.ProofTrust;
import blackbox.evidence.proof.ProofVerifier;
import blackbox.evidence.store.Recordings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/// Proofs per second on one thread, from a run whose tree is cached: of events anywhere in it, each of which needs
/// a pass over part of a row group, and of consecutive events, as in a query's result. Also how many proofs are
/// verified per second, compared with OpenSSL verifying Ed25519 signatures, of which each of these proofs has one.
final class Prove implements Benchmark {
    /// A prefix and two hashes.
    private static final int NODE_BYTES = 65;

    private static final int EVENTS = Scale.CURRENT.count(2_000_000, 20_000);
    private static final int SCATTERED = Scale.CURRENT.count(100, 10);
    private static final int TOGETHER = Scale.CURRENT.count(5_000, 500);
    private static final int VERIFIED = Scale.CURRENT.count(2_000, 200);

    @Override
    public String name() {
        return "prove";
    }

    @Override
    public List<BenchResult> run() throws Exception {
        Path data = Files.createTempDirectory("blackbox-bench-");
        try {
            SealedRun run = SealedRun.write(data, EVENTS);
            long start = System.nanoTime();
            prover(run).prove(0);
            double pass = run.events() * 1e9 / (System.nanoTime() - start);
            RandomGenerator random =
                    RandomGeneratorFactory.of("L64X128MixRandom").create(1);
            double scattered =
                    made(run, random.longs(SCATTERED, 0, run.events()).toArray());
            long first = run.events() / 2;
            var indexes = new long[TOGETHER];
            for (int i = 0; i < TOGETHER; i++) {
                indexes[i] = first + i;
            }
            double together = made(run, indexes);
            return List.of(
                    BenchResult.of(name(), together, "proofs/s")
                            .beside("openssl sha256, every hash of one path", paths(run.events()))
                            .withNote(String.format(
                                    Locale.ROOT,
                                    "One thread, %,d consecutive events in a run of %,d; the very first proof"
                                            + " passes over the run, at %,.0f events/s.",
                                    TOGETHER,
                                    run.events(),
                                    pass)),
                    BenchResult.of("prove-anywhere", scattered, "proofs/s")
                            .alone("it is mostly decoding a row group, whose limit is that of `verify`")
                            .withNote(
                                    "One thread, events anywhere in the run: each means decoding part of a row group."),
                    BenchResult.of("prove-verify", verified(run), "proofs/s")
                            .beside("openssl speed ed25519, verified", OpensslSpeed.ed25519VerifiedPerSecond(2))
                            .withNote("One thread; a proof without a log of runs, so one signature each."));
        } finally {
            Folders.delete(data);
        }
    }

    /// How many paths from a leaf to the root could be hashed a second (RFC 6962, section 2.1).
    private static double paths(long events) throws Exception {
        int levels = Long.SIZE - Long.numberOfLeadingZeros(events - 1);
        return OpensslSpeed.sha256PerSecond(NODE_BYTES, 1) / levels;
    }

    private static EventProver prover(SealedRun run) throws Exception {
        return EventProver.open(Recordings.unchecked(run.data()), run.run());
    }

    private static double made(SealedRun run, long[] indexes) throws Exception {
        EventProver prover = prover(run);
        long start = System.nanoTime();
        for (long index : indexes) {
            prover.prove(index);
        }
        return indexes.length * 1e9 / (System.nanoTime() - start);
    }

    private static double verified(SealedRun run) throws Exception {
        EventProver prover = prover(run);
        var proofs = new ArrayList<byte[]>();
        for (int i = 0; i < VERIFIED; i++) {
            EventProof proof = prover.prove(i);
            proofs.add(ProofJson.encode(proof));
        }
        ProofTrust trust = ProofTrust.of(List.of(run.key().verifier()));
        double best = 0;
        for (int round = 0; round < 3; round++) {
            long start = System.nanoTime();
            for (byte[] proof : proofs) {
                if (!ProofVerifier.verify(proof, trust).holds()) {
                    throw new IllegalStateException("the benchmark's own proof does not verify");
                }
            }
            best = Math.max(best, VERIFIED * 1e9 / (System.nanoTime() - start));
        }
        return best;
    }
}
