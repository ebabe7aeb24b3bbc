package blackbox.fuzz;

import static blackbox.fuzz.FuzzTarget.ensure;

import blackbox.evidence.TestEvents;
import blackbox.evidence.TestLog;
import blackbox.evidence.TestRun;
import blackbox.evidence.anchor.AnchorTrust;
import blackbox.evidence.attest.DsseEnvelope;
import blackbox.evidence.attest.MalformedAttestationException;
import blackbox.evidence.bundle.BundleVerifier;
import blackbox.evidence.bundle.BundleWriter;
import blackbox.evidence.parquet.EventFileReader;
import blackbox.evidence.proof.EventProver;
import blackbox.evidence.proof.MalformedProofException;
import blackbox.evidence.proof.ProofJson;
import blackbox.evidence.proof.ProofTrust;
import blackbox.evidence.proof.ProofVerifier;
import blackbox.evidence.proof.ProvenRun;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.storage.StoredFile;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.time.MalformedTimeStampException;
import blackbox.evidence.time.TestTimeAuthority;
import blackbox.evidence.time.TimeAnswer;
import blackbox.evidence.time.TimeAuthorities;
import blackbox.evidence.time.TimeQuery;
import blackbox.evidence.time.TimeToken;
import blackbox.evidence.time.TimeVerdict;
import blackbox.evidence.verify.Verification;
import blackbox.ingest.parquet.EventFile;
import blackbox.ingest.parquet.RowGroup;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import blackbox.schemas.batch.LeafCursor;
import blackbox.schemas.batch.MalformedBatchException;
import blackbox.schemas.batch.SealedBatch;
import blackbox.schemas.batch.SpoolSegment;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// What proves something, and where it is stored.
final class EvidenceTargets {
    private static final RunId RUN = new RunId("01kaj3v4e00000000000000001");
    private static final Ed25519Key KEY = Ed25519Key.create("blackbox/recorder", new SecureRandom());
    private static final Hash STAMPED = Hash.sha256(new byte[] {1});

    /// The bundle that is changed, and whose key signed it.
    private record Bundle(byte[] zip, Ed25519Key key) {}

    private static @Nullable Bundle bundle;

    private EvidenceTargets() {}

    static List<FuzzTarget> all() {
        return List.of(
                FuzzTarget.of(
                        "batch",
                        8 << 10,
                        EvidenceTargets::batch,
                        EvidenceTargets::batches,
                        MalformedBatchException.class),
                FuzzTarget.of("spool", 8 << 10, EvidenceTargets::spool, EvidenceTargets::segments),
                FuzzTarget.of("parquet", 64 << 10, EvidenceTargets::parquet, EvidenceTargets::files, IOException.class),
                FuzzTarget.of(
                        "event-proof",
                        16 << 10,
                        EvidenceTargets::proof,
                        EvidenceTargets::proofs,
                        MalformedProofException.class),
                FuzzTarget.of(
                        "attestation",
                        4 << 10,
                        EvidenceTargets::attestation,
                        EvidenceTargets::attestations,
                        MalformedAttestationException.class),
                FuzzTarget.of(
                        "time-stamp",
                        8 << 10,
                        EvidenceTargets::answer,
                        EvidenceTargets::answers,
                        MalformedTimeStampException.class),
                FuzzTarget.of("bundle", 256 << 10, EvidenceTargets::bundle, EvidenceTargets::bundles));
    }

    private static boolean batch(byte[] octets) throws MalformedBatchException, IOException {
        check(SealedBatch.decode(octets), octets);
        return true;
    }

    private static void check(SealedBatch batch, byte[] octets) throws IOException {
        ensure(Arrays.equals(batch.octets(), octets), "a batch keeps other octets");
        ensure(
                batch.firstIndex() >= 0 && batch.endIndex() > batch.firstIndex(),
                "a batch goes back: " + batch.endIndex());
        var rows = new Rows();
        LeafCursor leaves = batch.leaves();
        int seen = 0;
        while (leaves.next()) {
            boolean unused =
                    rows.take(Arrays.copyOfRange(leaves.array(), leaves.offset(), leaves.offset() + leaves.length()));
            seen++;
        }
        ensure(leaves.atEnd() && seen == batch.count(), "leaves do not add up");
    }

    private static TestRun sealed() throws IOException {
        Path data = Files.createTempDirectory("fuzz-run");
        TestRun run = TestEvents.smallBuild(new TestRun(data, RUN, KEY), 1);
        Scratch.delete(data);
        return run;
    }

    private static Map<String, byte[]> batches() throws IOException {
        return Map.of("first", sealed().batches.getFirst().octets());
    }

    /// Records without their checksums, which anyone can make: the length of each, 16 bits, and its octets. What is
    /// left over is taken as it is.
    private static boolean spool(byte[] input) throws IOException {
        var out = new ByteArrayOutputStream();
        ByteBuffer in = ByteBuffer.wrap(input);
        while (in.remaining() >= Short.BYTES) {
            int length = Short.toUnsignedInt(in.getShort());
            if (length > in.remaining()) {
                break;
            }
            var payload = new byte[length];
            in.get(payload);
            out.writeBytes(SpoolSegment.recordHeader(payload).array());
            out.writeBytes(payload);
        }
        out.write(input, in.position(), in.remaining());
        return segment(out.toByteArray());
    }

    private static boolean segment(byte[] octets) throws IOException {
        SpoolSegment segment = SpoolSegment.read(octets);
        ensure(segment.length() >= 0 && segment.length() <= octets.length, "a segment is longer than its file");
        ensure(segment.fault() != null || segment.length() == octets.length, "octets are not accounted for");
        for (SealedBatch batch : segment.batches()) {
            check(batch, batch.octets());
        }
        return !segment.batches().isEmpty();
    }

    private static Map<String, byte[]> segments() throws IOException {
        byte[] batch = sealed().batches.getFirst().octets();
        byte[] record = ByteBuffer.allocate(Short.BYTES + batch.length)
                .putShort((short) batch.length)
                .put(batch)
                .array();
        byte[] two = Arrays.copyOf(record, 2 * record.length);
        System.arraycopy(record, 0, two, record.length, record.length);
        return Map.of("one", record, "two", two);
    }

    private static boolean parquet(byte[] octets) throws IOException {
        long rows = 0;
        var shown = new Rows();
        try (EventFileReader reader = EventFileReader.open(new InMemory(octets), RUN)) {
            while (reader.next()) {
                // Dictionaries and runs repeat values: rows cost less than octets, but are as many as the footer says.
                ensure(++rows <= reader.rows(), "more rows than the file says that it has");
                if (rows < 100) {
                    shown.show(reader.row());
                }
            }
            ensure(rows == reader.rows(), "fewer rows than the file says that it has");
        }
        return true;
    }

    private record InMemory(byte[] octets) implements StoredFile {
        @Override
        public long size() {
            return octets.length;
        }

        @Override
        public void read(long position, ByteBuffer target) throws IOException {
            if (position < 0 || position > octets.length - target.remaining()) {
                throw new EOFException("beyond the file");
            }
            target.put(octets, (int) position, target.remaining());
        }

        @Override
        public void close() {}
    }

    private static Map<String, byte[]> files() throws Exception {
        Path folder = Files.createTempDirectory("fuzz-parquet");
        Path path = folder.resolve("file");
        SealedBatch batch = sealed().batches.getFirst();
        var group = new RowGroup(RUN, 1);
        LeafCursor leaves = batch.leaves();
        for (long index = 0; leaves.next(); index++) {
            group.append(
                    index,
                    leaves.array(),
                    leaves.offset(),
                    leaves.length(),
                    index == batch.endIndex() - 1 ? batch.checkpoint() : null);
        }
        try (var file = new EventFile(path, 1)) {
            file.write(group);
            Object unused = file.finish(batch.checkpoint());
        }
        byte[] ours = Files.readAllBytes(path);
        Scratch.delete(folder);
        return Map.of("ours", ours);
    }

    private static boolean proof(byte[] octets) throws MalformedProofException {
        ProofTrust nobody = ProofTrust.of(List.of(KEY.verifier()));
        ensure(!ProofVerifier.verify(octets, nobody).holds(), "a proof holds under a key that signed nothing in it");
        ensure(
                ProofJson.parse(ProofJson.encode(ProofJson.parse(octets))) != null,
                "a proof that was written is not read");
        return true;
    }

    private static Map<String, byte[]> proofs() throws Exception {
        Path data = Files.createTempDirectory("fuzz-proof");
        var run = new ProvenRun(data);
        var prover = EventProver.open(Recordings.unchecked(data), run.run.run);
        Map<String, byte[]> seeds =
                Map.of("early", ProofJson.encode(prover.prove(3)), "late", ProofJson.encode(prover.prove(12)));
        Scratch.delete(data);
        return seeds;
    }

    private static boolean attestation(byte[] octets) throws MalformedAttestationException {
        DsseEnvelope envelope = DsseEnvelope.parse(octets);
        ensure(
                Arrays.equals(DsseEnvelope.parseOwn(envelope.toJson()).toJson(), envelope.toJson()),
                "an envelope encodes to something else");
        ensure(envelope.signers(List.of(KEY.verifier())).size() <= 1, "one key signed more than once");
        return true;
    }

    private static Map<String, byte[]> attestations() {
        return Map.of(
                "signed",
                DsseEnvelope.sign("application/vnd.in-toto+json", new byte[] {'{', '}'}, List.of(KEY))
                        .toJson());
    }

    private static boolean answer(byte[] octets) throws MalformedTimeStampException {
        TimeAnswer answer = TimeAnswer.parse(octets);
        if (answer instanceof TimeAnswer.Granted(var token)) {
            TimeVerdict verdict = TimeAuthorities.of(List.of()).verify(token, STAMPED);
            ensure(!(verdict instanceof TimeVerdict.Stamped), "nobody is trusted, and yet it is stamped");
            ensure(
                    Arrays.equals(TimeToken.ofResponse(token.response()).response(), token.response()),
                    "a response encodes to something else");
        }
        return true;
    }

    private static Map<String, byte[]> answers() {
        byte[] query = TimeQuery.create(STAMPED, new SecureRandom()).encoded();
        return Map.of(
                "granted",
                TestTimeAuthority.create(TestTimeAuthority.Algorithm.ECDSA).answer(query, Instant.now()),
                "refused",
                TestTimeAuthority.refusal(2, "no", 2));
    }

    /// No bundle with another octet anywhere holds.
    private static boolean bundle(byte[] octets) throws Exception {
        Bundle original = original();
        Verification verification = BundleVerifier.verify(
                Scratch.file("bundle", octets), List.of(original.key().verifier()), AnchorTrust.none());
        boolean holds = verification.integrity() == Verification.Integrity.VERIFIED;
        ensure(!holds || Arrays.equals(octets, original.zip()), "a bundle that was changed holds");
        return holds;
    }

    private static Map<String, byte[]> bundles() throws Exception {
        return Map.of("whole", original().zip());
    }

    private static Bundle original() throws Exception {
        Bundle made = bundle;
        if (made == null) {
            Path data = Files.createTempDirectory("fuzz-bundle");
            var log = new TestLog(data.resolve("log")).begin();
            TestRun run = TestEvents.smallBuild(TestRun.certified(data, log), 1);
            run.table();
            run.logCheckpoints(0, run.batches.size());
            log.publish();
            Path zip = data.resolve("run.bundle.zip");
            BundleWriter.write(Recordings.unchecked(data), run.run, log.key, zip);
            made = new Bundle(Files.readAllBytes(zip), log.key);
            Scratch.delete(data);
            bundle = made;
        }
        return Objects.requireNonNull(made);
    }
}
