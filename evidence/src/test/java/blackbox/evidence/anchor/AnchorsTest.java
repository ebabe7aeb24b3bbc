package blackbox.evidence.anchor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.TestLog;
import blackbox.evidence.anchor.AnchoredRange.Logged;
import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.log.TileHashes;
import blackbox.evidence.log.TreeProver;
import blackbox.evidence.log.TrustPolicy;
import blackbox.evidence.sign.CosignatureKey;
import blackbox.evidence.sign.NoteVerifiers;
import blackbox.evidence.store.TransparencyLogReader;
import blackbox.evidence.time.TestTimeAuthority;
import blackbox.evidence.time.TimeAnswer;
import blackbox.evidence.time.TimeAuthorities;
import blackbox.evidence.time.TimeQuery;
import blackbox.schemas.Hash;
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

class AnchorsTest {

    private static final SecureRandom RANDOM = new SecureRandom();
    private static final Instant NOON = Instant.parse("2026-11-22T12:00:00Z");
    private static final CosignatureKey ONE = CosignatureKey.createEd25519("w.example/1", RANDOM);
    private static final CosignatureKey TWO = CosignatureKey.createMlDsa44("w.example/2", RANDOM);
    private static final CosignatureKey THREE = CosignatureKey.createEd25519("w.example/3", RANDOM);
    private static final TestTimeAuthority AUTHORITY = TestTimeAuthority.create(TestTimeAuthority.Algorithm.ECDSA);

    @TempDir
    Path folder;

    private TestLog log;
    private final AnchorTrust trust = new AnchorTrust(
            policy("group pair 2 one two three\nquorum pair\n"), TimeAuthorities.of(List.of(AUTHORITY.root())));

    @BeforeEach
    void begin() throws IOException {
        log = new TestLog(folder);
        for (int i = 0; i < 10; i++) {
            log.add("entry " + i);
        }
        log.publish();
        Files.createDirectories(folder.resolve("anchors"));
    }

    private static TrustPolicy policy(String rest) {
        return TrustPolicy.parse(
                "witness one " + ONE.verifier().encoded() + "\nwitness two "
                        + TWO.verifier().encoded() + "\nwitness three "
                        + THREE.verifier().encoded() + "\n" + rest,
                NoteVerifiers::parse);
    }

    private Checkpoint at(long size) throws IOException {
        return new Checkpoint(TestLog.ORIGIN, size, prover().root(size));
    }

    private TreeProver prover() {
        return new TreeProver(new TileHashes(
                new TransparencyLogReader(folder), log.checkpoint().size()));
    }

    private SignedNote note(Checkpoint checkpoint) {
        String text = checkpoint.text();
        return new SignedNote(text, List.of(SignedNote.Signature.of(log.key, text)));
    }

    private static SignedNote cosign(SignedNote note, CosignatureKey key, Instant time) {
        byte[] octets = key.cosign(note.text().getBytes(StandardCharsets.UTF_8), time.getEpochSecond());
        return note.with(
                new SignedNote.Signature(key.verifier().name(), key.verifier().keyId(), octets));
    }

    private void store(SignedNote note, String name) throws IOException {
        Files.writeString(folder.resolve("anchors").resolve(name), note.encoded());
    }

    private void stamp(Checkpoint checkpoint, Instant time, String name) throws Exception {
        byte[] text = checkpoint.text().getBytes(StandardCharsets.UTF_8);
        byte[] answer =
                AUTHORITY.answer(TimeQuery.create(Hash.sha256(text), RANDOM).encoded(), time);
        var granted = assertInstanceOf(TimeAnswer.Granted.class, TimeAnswer.parse(answer));
        Files.write(folder.resolve("anchors").resolve(name), granted.token().response());
    }

    private Anchors read(AnchorTrust whom) throws IOException {
        return Anchors.read(new TransparencyLogReader(folder), whom, log.checkpoint(), prover()::root);
    }

    @Test
    void aQuorumsTimeIsWhenItWasReached() throws Exception {
        SignedNote note = cosign(note(at(5)), ONE, NOON.plusSeconds(30));
        store(note, "5.note");
        assertEquals(List.of(), read(trust).anchors());
        assertEquals(
                List.of("5.note: no quorum of witnesses has cosigned it, only [one]"),
                read(trust).remarks());
        note = cosign(note, THREE, NOON.plusSeconds(50));
        note = cosign(note, TWO, NOON.plusSeconds(10));
        store(note, "5.note");
        assertEquals(
                List.of(new Anchor(Anchor.Kind.WITNESS, at(5), NOON.plusSeconds(30), List.of("two", "one"))),
                read(trust).anchors());
        // Without a quorum to reach, or witnesses to believe, nothing is anchored.
        assertEquals(
                List.of(),
                read(new AnchorTrust(policy("quorum none\n"), trust.authorities()))
                        .anchors());
        assertEquals(List.of(), read(AnchorTrust.none()).anchors());
    }

    @Test
    void aCosignatureWithoutATimeSaysNothingAboutTime() throws Exception {
        store(cosign(cosign(note(at(5)), ONE, Instant.EPOCH), TWO, Instant.EPOCH), "5.note");
        assertEquals(List.of(), read(trust).anchors());
    }

    @Test
    void timeStampsHoldForTheCheckpointTheyAreOver() throws Exception {
        store(note(at(7)), "7.note");
        stamp(at(7), NOON, "7-1.tsr");
        stamp(at(6), NOON, "7-2.tsr");
        Files.write(folder.resolve("anchors/7-3.tsr"), new byte[] {1});
        Anchors anchors = read(trust);
        assertEquals(
                List.of(new Anchor(Anchor.Kind.RFC3161, at(7), NOON.plusMillis(1500), List.of("CN=Test Time Stamps"))),
                anchors.anchors());
        assertEquals(
                List.of(
                        "7.note: no quorum of witnesses has cosigned it, only []",
                        "7-2.tsr: the time stamp is for other data",
                        "7-3.tsr: a time stamp that is not ASN.1"),
                anchors.remarks());
        assertEquals(List.of(), anchors.contradictions());
        assertEquals(
                "7-1.tsr: the time stamp's signer is not trusted as of the stamp's time: no time authority is trusted",
                read(AnchorTrust.none()).remarks().getFirst());
    }

    @Test
    void whatOutsidersVouchForAndTheLogIsNotIsAContradiction() throws Exception {
        Checkpoint other = new Checkpoint(TestLog.ORIGIN, 8, Hash.ZERO);
        store(note(other), "8.note");
        assertEquals(List.of(), read(trust).contradictions());
        stamp(other, NOON, "8-1.tsr");
        assertTrue(read(trust).contradictions().getFirst().contains("a different history"));
        assertEquals(List.of(), read(trust).anchors());
        assertEquals(List.of(), read(AnchorTrust.none()).contradictions());

        Checkpoint later = new Checkpoint(TestLog.ORIGIN, 11, Hash.ZERO);
        store(cosign(cosign(note(later), ONE, NOON), TWO, NOON), "11.note");
        assertTrue(read(trust).contradictions().getLast().contains("rolled back"));
    }

    @Test
    void filesThatAreNoAnchorsAreRemarkedOn() throws Exception {
        store(note(at(4)), "3.note");
        store(note(new Checkpoint("blackbox/log/other", 4, at(4).root())), "4.note");
        Files.writeString(folder.resolve("anchors/5.note"), "nothing\n");
        stamp(at(6), NOON, "6-1.tsr");
        Anchors anchors = read(trust);
        assertEquals(List.of(), anchors.anchors());
        assertEquals(
                List.of(
                        "3.note is not a checkpoint of the size in its name",
                        "4.note is a checkpoint of another log, blackbox/log/other",
                        "5.note is not a checkpoint of the size in its name",
                        "6.note is not a checkpoint of the size in its name"),
                anchors.remarks());
    }

    /// Each bit of each file, in turn: either the file proves nothing any more, or what it proves is the
    /// same (a letter of a signature by a key that nobody asked for).
    @Test
    void noBitOfAnAnchorCanBeChangedUnseen() throws Exception {
        store(cosign(cosign(note(at(5)), ONE, NOON), THREE, NOON), "5.note");
        store(note(at(7)), "7.note");
        stamp(at(7), NOON, "7-1.tsr");
        Anchors whole = read(trust);
        assertEquals(2, whole.anchors().size());
        flip("7-1.tsr", 0, whole);
        String note = Files.readString(folder.resolve("anchors/5.note"));
        flip("5.note", note.indexOf("w.example/1"), whole);
        int text = note.indexOf("\n\n");
        byte[] octets = note.getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i <= text; i++) {
            octets[i] ^= 1;
            Files.write(folder.resolve("anchors/5.note"), octets);
            octets[i] ^= 1;
            assertEquals(1, read(trust).anchors().size(), "octet " + i);
        }
    }

    private void flip(String name, int from, Anchors whole) throws IOException {
        Path file = folder.resolve("anchors").resolve(name);
        byte[] octets = Files.readAllBytes(file);
        for (int i = from; i < octets.length; i++) {
            octets[i] ^= (byte) (1 << i % 7);
            Files.write(file, octets);
            octets[i] ^= (byte) (1 << i % 7);
            Anchors read = read(trust);
            assertTrue(read.anchors().size() < whole.anchors().size(), name + ", octet " + i);
            assertTrue(!read.remarks().isEmpty(), name + ", octet " + i);
        }
        Files.write(file, octets);
    }

    @Test
    void rangesTellWhichEventsAreCoveredAndSinceWhen() throws Exception {
        List<Anchor> anchors = List.of(
                witnessed(9, NOON.plusSeconds(600)),
                witnessed(5, NOON),
                witnessed(6, NOON.plusSeconds(60)),
                new Anchor(Anchor.Kind.RFC3161, at(6), NOON.plusSeconds(5), List.of("TSA")));
        List<Logged> run = List.of(new Logged(3, 100), new Logged(4, 150), new Logged(5, 200), new Logged(9, 300));
        assertEquals(
                List.of(
                        new AnchoredRange(149, NOON, List.of("one"), Anchor.Kind.WITNESS),
                        new AnchoredRange(199, NOON.plusSeconds(5), List.of("TSA"), Anchor.Kind.RFC3161),
                        new AnchoredRange(199, NOON.plusSeconds(60), List.of("one"), Anchor.Kind.WITNESS)),
                AnchoredRange.of(anchors, run));
        assertEquals(200, AnchoredRange.coveredEvents(AnchoredRange.of(anchors, run)));
        assertEquals(List.of(), AnchoredRange.of(anchors, List.of(new Logged(9, 300))));
        assertEquals(0, AnchoredRange.coveredEvents(List.of()));
    }

    private Anchor witnessed(long size, Instant time) throws IOException {
        return new Anchor(Anchor.Kind.WITNESS, at(size), time, List.of("one"));
    }
}
