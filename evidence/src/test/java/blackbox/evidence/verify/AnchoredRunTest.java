package blackbox.evidence.verify;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.TestEvents;
import blackbox.evidence.TestLog;
import blackbox.evidence.TestRun;
import blackbox.evidence.anchor.Anchor;
import blackbox.evidence.anchor.AnchorTrust;
import blackbox.evidence.anchor.AnchoredRange;
import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.log.TrustPolicy;
import blackbox.evidence.sign.CosignatureKey;
import blackbox.evidence.sign.NoteVerifiers;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.time.TestTimeAuthority;
import blackbox.evidence.time.TimeAnswer;
import blackbox.evidence.time.TimeAuthorities;
import blackbox.evidence.time.TimeQuery;
import blackbox.evidence.verify.Verification.Integrity;
import blackbox.evidence.verify.Verification.Time;
import blackbox.schemas.Hash;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A run whose log of runs outside parties vouch for, all of it or a part.
class AnchoredRunTest {

    private static final SecureRandom RANDOM = new SecureRandom();
    private static final Instant EARLY = Instant.parse("2026-11-22T12:00:00Z");
    private static final Instant LATE = Instant.parse("2026-11-22T13:00:00Z");
    private static final CosignatureKey WITNESS = CosignatureKey.createEd25519("w.example/1", RANDOM);
    private static final TestTimeAuthority AUTHORITY = TestTimeAuthority.create(TestTimeAuthority.Algorithm.ECDSA);

    @TempDir
    Path folder;

    private TestLog log;
    private TestRun run;
    private final AnchorTrust trust = new AnchorTrust(
            TrustPolicy.parse("witness w " + WITNESS.verifier().encoded() + "\nquorum w\n", NoteVerifiers::parse),
            TimeAuthorities.of(List.of(AUTHORITY.root())));

    @BeforeEach
    void record() throws Exception {
        log = new TestLog(folder.resolve("log")).begin();
        run = TestEvents.smallBuild(TestRun.certified(folder, log), 3);
        run.spool(0, 4);
        Files.createDirectories(folder.resolve("log/anchors"));
    }

    private Verification verify(AnchorTrust whom) throws IOException {
        return RunVerifier.verify(Recordings.unchecked(folder), run.run, List.of(log.key.verifier()), null, whom);
    }

    private void witness(Instant time) throws IOException {
        String text = log.checkpoint().text();
        byte[] octets = WITNESS.cosign(text.getBytes(StandardCharsets.UTF_8), time.getEpochSecond());
        var line = new SignedNote.Signature(
                WITNESS.verifier().name(), WITNESS.verifier().keyId(), octets);
        var note = new SignedNote(text, List.of(SignedNote.Signature.of(log.key, text), line));
        Files.writeString(anchor(".note"), note.encoded());
    }

    private void stamp(Instant time) throws Exception {
        Checkpoint checkpoint = log.checkpoint();
        if (!Files.exists(anchor(".note"))) {
            Files.writeString(anchor(".note"), SignedNote.sign(checkpoint.text(), log.key));
        }
        Hash imprint = Hash.sha256(checkpoint.text().getBytes(StandardCharsets.UTF_8));
        byte[] answer = AUTHORITY.answer(TimeQuery.create(imprint, RANDOM).encoded(), time);
        var granted = assertInstanceOf(TimeAnswer.Granted.class, TimeAnswer.parse(answer));
        Files.write(anchor("-1.tsr"), granted.token().response());
    }

    private Path anchor(String suffix) {
        return folder.resolve("log/anchors/" + log.checkpoint().size() + suffix);
    }

    private static String json(Verification verification) throws IOException {
        var octets = new ByteArrayOutputStream();
        try (JsonGenerator out = new JsonFactory().createGenerator(octets)) {
            VerificationReport.write(out, verification);
        }
        return octets.toString(StandardCharsets.UTF_8);
    }

    @Test
    void theTimeIsAnchoredWhereEveryEventIsVouchedFor() throws Exception {
        run.logCheckpoints(1, 4);
        log.publish();
        witness(EARLY);
        stamp(LATE);
        Verification verification = verify(trust);
        assertEquals(List.of(), verification.findings());
        assertEquals(Time.ANCHORED, verification.time());
        assertTrue(verification.holds());
        long last = run.batches.getLast().endIndex() - 1;
        assertEquals(
                List.of(
                        new AnchoredRange(last, EARLY, List.of("w"), Anchor.Kind.WITNESS),
                        new AnchoredRange(
                                last, LATE.plusMillis(1500), List.of("CN=Test Time Stamps"), Anchor.Kind.RFC3161)),
                verification.anchors());
        assertTrue(
                json(verification)
                        .contains("\"anchors\":[{\"throughIndex\":" + last
                                + ",\"notLaterThan\":\"2026-11-22T12:00:00.000000000Z\",\"by\":[\"w\"],"
                                + "\"kind\":\"witness\"}"),
                json(verification));

        Verification alone = verify(AnchorTrust.none());
        assertEquals(Time.HOST_CLOCK, alone.time());
        assertEquals(List.of(), alone.anchors());
        assertEquals(Integrity.VERIFIED, alone.integrity());
    }

    @Test
    void rangesThatAreNotVouchedForAreToldApart() throws Exception {
        run.logCheckpoints(1, 2);
        log.publish();
        stamp(EARLY);
        run.logCheckpoints(2, 4);
        log.publish();
        Verification verification = verify(trust);
        long through = run.batches.get(1).endIndex() - 1;
        assertEquals(Time.HOST_CLOCK, verification.time());
        assertEquals(
                List.of(through),
                verification.anchors().stream().map(AnchoredRange::throughIndex).toList());
        assertTrue(
                verification.findings().stream()
                        .anyMatch(finding ->
                                finding.index() == through + 1 && finding.what().contains("only the host's clock")),
                verification.findings().toString());
        assertTrue(verification.holds());
        witness(LATE);
        assertEquals(Time.ANCHORED, verify(trust).time());
    }

    @Test
    void anAnchorOfAnotherHistoryIsTampering() throws Exception {
        run.logCheckpoints(1, 4);
        witness(EARLY); // for a log that is then published otherwise
        log.entries.removeLast();
        run.logCheckpoints(2, 3);
        log.publish();
        Verification verification = verify(trust);
        assertEquals(Integrity.TAMPERED, verification.integrity());
        assertEquals(Time.HOST_CLOCK, verification.time());
        assertEquals(List.of(), verification.anchors());
        assertTrue(
                verification.findings().getFirst().what().contains("a different history"),
                verification.findings().toString());
    }

    @Test
    void aDamagedAnchorIsAFindingAndTheTimeNoLongerSure() throws Exception {
        run.logCheckpoints(1, 4);
        log.publish();
        stamp(EARLY);
        byte[] octets = Files.readAllBytes(anchor("-1.tsr"));
        octets[octets.length / 2] ^= 4;
        Files.write(anchor("-1.tsr"), octets);
        Verification verification = verify(trust);
        assertEquals(Integrity.VERIFIED, verification.integrity());
        assertEquals(Time.HOST_CLOCK, verification.time());
        assertTrue(
                verification.findings().stream()
                        .anyMatch(finding -> finding.what().contains("-1.tsr")),
                verification.findings().toString());
    }
}
