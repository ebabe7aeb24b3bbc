package blackbox.evidence.proof;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.TestLog;
import blackbox.evidence.log.InclusionProof;
import blackbox.evidence.log.LogProof;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.log.TrustPolicy;
import blackbox.evidence.proof.EventProof.LoggedNote;
import blackbox.evidence.proof.EventProof.ProvenLeaf;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.time.TestTimeAuthority;
import blackbox.evidence.time.TimeAnswer;
import blackbox.evidence.time.TimeAuthorities;
import blackbox.evidence.time.TimeQuery;
import blackbox.evidence.trust.KeyStatement;
import blackbox.evidence.verify.Verification.Integrity;
import blackbox.evidence.verify.Verification.Time;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What somebody could do to a proof, or make up, and that it does not hold then.
class ProofAttackTest {

    private static final long INDEX = 7;

    @TempDir
    Path folder;

    private ProvenRun proven;
    private EventProof proof;

    @BeforeEach
    void prove() throws Exception {
        proven = new ProvenRun(folder.resolve("data"));
        proof = proven.prove(INDEX);
        assertTrue(proven.verify(proof).holds());
    }

    private EventProof with(ProvenLeaf event) {
        return new EventProof(
                proof.run(),
                proof.index(),
                event,
                proof.signer(),
                proof.inLog(),
                proof.statements(),
                List.of(),
                List.of());
    }

    private EventProof with(@Nullable ProvenLeaf signer, @Nullable LogProof inLog, List<LoggedNote> statements) {
        return new EventProof(
                proof.run(), proof.index(), proof.event(), signer, inLog, statements, List.of(), List.of());
    }

    private static LogProof withNote(LogProof proof, SignedNote note) {
        return LogProof.of(new InclusionProof(proof.index(), Long.MAX_VALUE, proof.path()), note);
    }

    private void assertTampered(EventProof attacked, String finding) {
        ProofVerdict verdict = proven.verify(attacked);
        assertFalse(verdict.holds(), verdict::toString);
        assertEquals(Integrity.TAMPERED, verdict.verification().integrity());
        assertFalse(verdict.verification().authorship().trusted());
        assertEquals(0, verdict.verification().events());
        String what = verdict.verification().findings().getFirst().what();
        assertTrue(what.contains(finding), () -> what);
    }

    @Test
    void forAnotherIndex() throws Exception {
        EventProof other = proven.prove(INDEX + 1);
        assertTampered(
                new EventProof(
                        proof.run(),
                        INDEX + 1,
                        proof.event(),
                        proof.signer(),
                        proof.inLog(),
                        proof.statements(),
                        List.of(),
                        List.of()),
                "is event 7 of the run, not 8");
        assertTampered(with(new ProvenLeaf(other.event().leaf(), proof.event().inRun())), "does not lead to the root");
        assertTampered(with(new ProvenLeaf(proof.event().leaf(), other.event().inRun())), "does not lead to the root");
    }

    @Test
    void anotherLeaf() {
        byte[] leaf = proof.event().leaf().clone();
        leaf[leaf.length - 1] ^= 1;
        assertTampered(with(new ProvenLeaf(leaf, proof.event().inRun())), "does not lead to the root");
    }

    @Test
    void ofAnotherRun() throws Exception {
        var other = new ProvenRun(folder.resolve("other"), new RunId("01kaj3v4e1" + "0".repeat(16)));
        EventProof foreign = EventProver.open(Recordings.unchecked(other.data), other.run.run)
                .prove(INDEX);
        assertTampered(with(foreign.event()), "is of another log");
        assertTampered(
                new EventProof(
                        other.run.run,
                        INDEX,
                        proof.event(),
                        proof.signer(),
                        proof.inLog(),
                        proof.statements(),
                        List.of(),
                        List.of()),
                "is of another log");
    }

    @Test
    void aPathThatIsCutOrLonger() {
        LogProof inRun = proof.event().inRun();
        for (int length = 0; length < inRun.path().size(); length++) {
            List<Hash> path = inRun.path().subList(0, length);
            assertTampered(
                    with(new ProvenLeaf(
                            proof.event().leaf(),
                            LogProof.of(new InclusionProof(INDEX, Long.MAX_VALUE, path), inRun.note()))),
                    "does not lead to the root");
        }
        var longer = new ArrayList<>(inRun.path());
        longer.add(Hash.ZERO);
        assertTampered(
                with(new ProvenLeaf(
                        proof.event().leaf(),
                        LogProof.of(new InclusionProof(INDEX, Long.MAX_VALUE, longer), inRun.note()))),
                "does not lead to the root");
    }

    @Test
    void theCheckpointOfALaterBatch() {
        SignedNote later = SignedNote.parse(proven.run.batches.get(3).checkpoint());
        assertNotNull(later);
        ProvenLeaf event =
                new ProvenLeaf(proof.event().leaf(), withNote(proof.event().inRun(), later));
        assertTampered(with(event), "does not lead to the root");
    }

    @Test
    void aCheckpointSignedByAnotherKey() {
        Ed25519Key stranger = Ed25519Key.create(proof.run().origin(), new SecureRandom());
        SignedNote note =
                SignedNote.parse(SignedNote.sign(proof.event().inRun().note().text(), stranger));
        assertNotNull(note);
        ProvenLeaf named = proof.signer();
        assertNotNull(named);
        EventProof signed = new EventProof(
                proof.run(),
                INDEX,
                new ProvenLeaf(proof.event().leaf(), withNote(proof.event().inRun(), note)),
                new ProvenLeaf(named.leaf(), withNote(named.inRun(), note)),
                proof.inLog(),
                proof.statements(),
                List.of(),
                List.of());
        assertTampered(signed, "is not signed by the key that its run names");
        assertTampered(
                new EventProof(
                        signed.run(),
                        INDEX,
                        signed.event(),
                        null,
                        signed.inLog(),
                        signed.statements(),
                        List.of(),
                        List.of()),
                "not signed by a trusted key");
        assertTampered(with(null, proof.inLog(), proof.statements()), "not signed by a trusted key");
    }

    /// Whoever takes the recorder over in a later epoch has that epoch's key and no earlier one.
    @Test
    void aSignerThatIsNotInTheTreeOrNamesNoKey() throws Exception {
        assertTampered(with(proof.event(), proof.inLog(), proof.statements()), "names none");
        ProvenLeaf later = proven.prove(proven.size() - 1).signer();
        assertNotNull(later);
        assertTampered(with(later, proof.inLog(), proof.statements()), "not in the run's tree");
    }

    @Test
    void theProofOfAnotherLeafOfTheLog() {
        LoggedNote begin = proof.statements().getFirst();
        assertTampered(
                with(proof.signer(), begin.inLog(), proof.statements()),
                "the run's checkpoint does not lead to the root");
    }

    @Test
    void aLogOfSomebodyElse() throws Exception {
        Ed25519Key stranger = Ed25519Key.create(TestLog.ORIGIN, new SecureRandom());
        LogProof inLog = proof.inLog();
        assertNotNull(inLog);
        SignedNote note = SignedNote.parse(SignedNote.sign(inLog.note().text(), stranger));
        assertNotNull(note);
        List<LoggedNote> statements = proof.statements().stream()
                .map(each -> new LoggedNote(each.note(), withNote(each.inLog(), note)))
                .toList();
        assertTampered(
                with(proof.signer(), withNote(inLog, note), statements), "log of runs is not signed by a trusted key");
        ProofVerdict unknown =
                ProofVerifier.verify(ProofJson.encode(proof), ProofTrust.of(List.of(stranger.verifier())));
        assertEquals(Integrity.TAMPERED, unknown.verification().integrity());
    }

    @Test
    void aKeyThatWasRevokedSignsNothingLater() throws Exception {
        var revoke = new KeyStatement(
                KeyStatement.Action.REVOKE,
                TestLog.ORIGIN,
                proven.log.key.verifier(),
                KeyStatement.Role.LOG,
                ProvenRun.BEGUN.plusSeconds(9),
                null);
        proven.log.add(SignedNote.sign(revoke.text(), proven.log.key));
        proven.log.add("what the revoked key adds");
        proven.log.publish();
        EventProof later = proven.prove(INDEX);
        assertEquals(2, later.statements().size());
        assertTampered(later, "log of runs is not signed by a trusted key");
        assertTrue(proven.verify(proof).holds(), "what was logged before the key was revoked stays believed");
    }

    @Test
    void keysThatGaveWayVouchForTheNewOnes() throws Exception {
        Ed25519Key next = Ed25519Key.create(TestLog.ORIGIN, new SecureRandom());
        var rotate = new KeyStatement(
                KeyStatement.Action.ROTATE,
                TestLog.ORIGIN,
                next.verifier(),
                KeyStatement.Role.LOG,
                ProvenRun.BEGUN.plusSeconds(9),
                null);
        proven.log.add(SignedNote.sign(rotate.text(), List.of(proven.log.key, next)));
        proven.log.add("under the new key");
        proven.log.signers = List.of(next);
        proven.log.publish();
        EventProof rotated = proven.prove(INDEX);
        assertTrue(proven.verify(rotated).holds(), () -> proven.verify(rotated).toString());
        LogProof inLog = rotated.inLog();
        assertNotNull(inLog);
        List<LoggedNote> statements = rotated.statements();
        for (List<LoggedNote> wrong : List.of(
                List.<LoggedNote>of(), statements.subList(0, 1), statements.subList(1, 2), statements.reversed())) {
            assertFalse(proven.verify(new EventProof(
                            rotated.run(),
                            INDEX,
                            rotated.event(),
                            rotated.signer(),
                            inLog,
                            wrong,
                            List.of(),
                            List.of()))
                    .holds());
        }
    }

    @Test
    void withoutItsLogAnEpochsKeyVouchesForNobody() {
        ProofVerdict verdict = proven.verify(with(proof.signer(), null, List.of()));
        assertEquals(Integrity.VERIFIED, verdict.verification().integrity());
        assertFalse(verdict.whole());
        assertFalse(verdict.verification().authorship().trusted());
        assertFalse(verdict.holds());
    }

    private static byte[] stamp(TestTimeAuthority authority, Hash imprint) throws Exception {
        TimeQuery query = TimeQuery.create(imprint, new SecureRandom());
        byte[] answer = authority.answer(query.encoded(), Instant.parse("2026-11-22T03:04:05Z"));
        return assertInstanceOf(TimeAnswer.Granted.class, TimeAnswer.parse(answer))
                .token()
                .response();
    }

    @Test
    void aTimeStampOfAnotherAuthorityOrOverOtherData() throws Exception {
        TestTimeAuthority authority = TestTimeAuthority.create(TestTimeAuthority.Algorithm.ECDSA);
        TestTimeAuthority stranger = TestTimeAuthority.create(TestTimeAuthority.Algorithm.ECDSA);
        Path anchors = Files.createDirectories(proven.log.folder.resolve("anchors"));
        String checkpoint = Files.readString(proven.log.folder.resolve("checkpoint"));
        Files.writeString(anchors.resolve("6.note"), checkpoint);
        Hash text = Hash.sha256(proven.log.checkpoint().text().getBytes(StandardCharsets.UTF_8));
        var trust = new ProofTrust(
                TrustPolicy.of(List.of(proven.log.key.verifier())), TimeAuthorities.of(List.of(authority.root())));

        Files.write(anchors.resolve("6-1.tsr"), stamp(authority, text));
        ProofVerdict stamped = ProofVerifier.verify(ProofJson.encode(proven.prove(INDEX)), trust);
        assertTrue(stamped.holds(), stamped::toString);
        assertEquals(Time.ANCHORED, stamped.verification().time());
        assertEquals(List.of("2026-11-22T03:04:06.500Z CN=Test Time Stamps"), stamped.stamped());

        for (byte[] bad : List.of(stamp(stranger, text), stamp(authority, Hash.ZERO), new byte[] {1, 2, 3})) {
            Files.write(anchors.resolve("6-1.tsr"), bad);
            ProofVerdict verdict = ProofVerifier.verify(ProofJson.encode(proven.prove(INDEX)), trust);
            assertEquals(Time.HOST_CLOCK, verdict.verification().time());
            assertEquals(1, verdict.verification().findings().size());
        }
    }

    /// One bit of each octet, in turn: whatever still holds says the same as before.
    @Test
    void aChangedBitAnywhere() throws Exception {
        byte[] octets = ProofJson.encode(with(proof.event()));
        byte[] original = octets.clone();
        var random = new Random(7);
        for (int at = 0; at < octets.length; at++) {
            octets[at] ^= (byte) (1 << random.nextInt(8));
            ProofVerdict verdict = ProofVerifier.verify(octets, proven.trust());
            if (verdict.holds()) {
                EventProof read = ProofJson.parse(octets);
                assertArrayEquals(original, ProofJson.encode(read), "octet " + at);
            }
            octets[at] = original[at];
        }
    }

    @Test
    void malformedDocuments() {
        String good = new String(ProofJson.encode(proof), StandardCharsets.UTF_8);
        var held = new ArrayList<String>();
        for (String bad : List.of(
                "",
                "{}",
                "[]",
                good + "{}",
                good.substring(0, good.length() - 3),
                good.replace("event-proof/v1", "event-proof/v2"),
                good.replace("\"index\" : 7", "\"index\" : 7, \"index\" : 7"),
                good.replace("\"index\" : 7", "\"index\" : \"7\""),
                good.replace("\"index\" : 7", "\"index\" : 7.0"),
                good.replace("\"index\" : 7", "\"index\" : -7"),
                good.replace("\"index\" : 7", "\"index\" : 18446744073709551623"),
                good.replace("\"index\" : 7", "\"index\" : 7, \"more\" : 1"),
                good.replace("\"timeTokens\" : [ ],", ""),
                good.replace("\"timeTokens\" : [ ]", "\"timeTokens\" : [ null ]"),
                good.replace("\"timeTokens\" : [ ]", "\"timeTokens\" : \"\""),
                good.replace("\"limits\" : [", "\"limits\" : [ [[[[[[1]]]]]], "),
                good.replace("index 7\\n", "extra aGk=\\nindex 7\\n"),
                good.replace("\"run\" : \"0", "\"run\" : \"O"))) {
            if (bad.equals(good)
                    || ProofVerifier.verify(bad.getBytes(StandardCharsets.UTF_8), proven.trust())
                            .holds()) {
                held.add(bad);
            }
        }
        assertEquals(List.of(), held);
        byte[] octets = good.getBytes(StandardCharsets.UTF_8);
        octets[good.indexOf("no witness")] = (byte) 0xff;
        assertFalse(ProofVerifier.verify(octets, proven.trust()).holds());
    }
}
