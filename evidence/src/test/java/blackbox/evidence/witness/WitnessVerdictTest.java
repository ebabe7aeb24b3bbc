package blackbox.evidence.witness;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.schemas.Hash;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class WitnessVerdictTest {

    /// The request that C2SP's page shows.
    private static final String PUBLISHED = """
            old 20852014
            PlRNCrwHpqhGrupue0L7gxbjbMiKA9temvuZZDDpkaw=
            jrJZDmY8Y7SyJE0MWLpLozkIVMSMZcD5kvuKxPC3swk=
            5+pKlUdi2LeF/BcMHBn+Ku6yhPGNCswZZD1X/6QgPd8=
            /6WVhPs2CwSsb5rYBH5cjHV/wSmA79abXAwhXw3Kj/0=

            example.com/behind-the-sofa
            20852163
            CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

            — example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
            — example.com/behind-the-sofa opLqBQsREYCgu6xQkYQwJr9fo45a62DN9EdmHXnZdXNqlcVGlCum2Wks+49/V6267UEjw6QUXTS5Rovnzv++qbSzm9Q=
            """;

    private static final String ORIGIN = "example/log";
    private static final Ed25519Key KEY = Ed25519Key.create(ORIGIN, new SecureRandom());
    private static final Ed25519Key STRANGER = Ed25519Key.create(ORIGIN, new SecureRandom());
    private static final List<NoteVerifier> KNOWN = List.of(KEY.verifier());

    @Test
    void thePublishedRequestIsRead() {
        AddCheckpoint request = AddCheckpoint.parse(octets(PUBLISHED));
        assertNotNull(request);
        assertEquals(20852014, request.oldSize());
        assertEquals(4, request.path().size());
        assertEquals("example.com/behind-the-sofa", request.checkpoint().origin());
        assertEquals(2, request.note().signatures().size());
        assertArrayEquals(octets(PUBLISHED), request.encoded());
        assertEquals(WitnessVerdict.UNKNOWN_LOG, WitnessVerdict.of(request, KNOWN, null));
    }

    @Test
    void aRequestHasOneForm() {
        String proofLine = "PlRNCrwHpqhGrupue0L7gxbjbMiKA9temvuZZDDpkaw=\n";
        for (String bad : List.of(
                "",
                "\n\n",
                PUBLISHED.replace("old 2", "old  2"),
                PUBLISHED.replace("old 2", "old 02"),
                PUBLISHED.replace("old 2", "old -2"),
                PUBLISHED.replace("old 2", "OLD 2"),
                PUBLISHED.replace("old 20852014", "old 99999999999999999999"),
                PUBLISHED.replace("old 20852014\n", ""),
                PUBLISHED.replace(proofLine, "PlRN\n"),
                PUBLISHED.replace("Dpkaw=", "Dpkax="),
                PUBLISHED.replace("Dpkaw=", "Dpkaw"),
                PUBLISHED.replace("\n\nexample", "\n\n\nexample"),
                PUBLISHED.replace("\n\nexample", "\nexample"),
                PUBLISHED.replace(proofLine, proofLine.repeat(61)),
                PUBLISHED.replace("\n", "\r\n"),
                PUBLISHED.strip(),
                PUBLISHED.replace("CsUYap", "CsUYa"))) {
            assertNull(AddCheckpoint.parse(octets(bad)), bad);
        }
        assertNotNull(AddCheckpoint.parse(octets(PUBLISHED.replace(proofLine, proofLine.repeat(60)))));
        assertNull(AddCheckpoint.parse(new byte[] {'o', 'l', 'd', ' ', '0', '\n', '\n', (byte) 0xff}));
        assertNull(AddCheckpoint.parse(new byte[AddCheckpoint.OCTETS_MAX + 1]));
    }

    @Test
    void aWitnessFollowsOneHistory() {
        var history = new TestHistory(1, 40, KEY);
        var other = new TestHistory(2, 40, KEY);
        for (int last = 1; last <= 40; last++) {
            for (int size = last; size <= 40; size++) {
                assertEquals(WitnessVerdict.COSIGN, judge(history.from(last, size), history.at(last)));
                // The same log with another history: refused at every size.
                WitnessVerdict split = judge(other.from(last, size), history.at(last));
                assertEquals(size == last ? WitnessVerdict.CONFLICT : WitnessVerdict.INCONSISTENT, split);
            }
        }
    }

    @Test
    void aSmallerTreeAfterALargerIsRefused() {
        var history = new TestHistory(3, 20, KEY);
        Checkpoint last = history.at(15);
        assertEquals(WitnessVerdict.CONFLICT, judge(history.from(0, 10), last));
        assertEquals(WitnessVerdict.CONFLICT, judge(history.from(10, 10), last));
        assertEquals(WitnessVerdict.CONFLICT, judge(history.from(10, 20), last));
        AddCheckpoint backwards = new AddCheckpoint(15, List.of(), history.note(10, KEY), history.at(10));
        assertEquals(WitnessVerdict.BACKWARDS, judge(backwards, last));
        assertEquals(WitnessVerdict.COSIGN, judge(history.from(15, 15), last));
    }

    @Test
    void theFirstCheckpointNeedsNoProofAndTheEmptyTreeHasOneRoot() {
        var history = new TestHistory(4, 5, KEY);
        assertEquals(WitnessVerdict.COSIGN, judge(history.from(0, 5), null));
        assertEquals(WitnessVerdict.CONFLICT, judge(history.from(2, 5), null));
        var padded = new AddCheckpoint(0, List.of(Hash.ZERO), history.note(5, KEY), history.at(5));
        assertEquals(WitnessVerdict.INCONSISTENT, judge(padded, null));
        assertEquals(WitnessVerdict.COSIGN, judge(history.from(0, 0), null));
        assertEquals(WitnessVerdict.COSIGN, judge(history.from(0, 0), history.at(0)));
        assertEquals(WitnessVerdict.COSIGN, judge(history.from(0, 3), history.at(0)));
        var wrong = new Checkpoint(ORIGIN, 0, Hash.ZERO);
        var note = SignedNote.parse(SignedNote.sign(wrong.text(), KEY));
        assertNotNull(note);
        assertEquals(WitnessVerdict.INCONSISTENT, judge(new AddCheckpoint(0, List.of(), note, wrong), null));
    }

    @Test
    void onlyTheLogsOwnSignatureCounts() {
        var history = new TestHistory(5, 5, KEY);
        SignedNote strangers = history.note(5, STRANGER);
        assertEquals(WitnessVerdict.NOT_SIGNED, judge(new AddCheckpoint(0, List.of(), strangers, history.at(5)), null));
        SignedNote both = strangers.with(history.note(5, KEY).signatures().getFirst());
        assertEquals(WitnessVerdict.COSIGN, judge(new AddCheckpoint(0, List.of(), both, history.at(5)), null));
        byte[] wrong = both.signatures().getLast().octets().clone();
        wrong[7] ^= 1;
        SignedNote spoilt =
                both.with(new SignedNote.Signature(ORIGIN, KEY.verifier().keyId(), wrong));
        assertEquals(WitnessVerdict.NOT_SIGNED, judge(new AddCheckpoint(0, List.of(), spoilt, history.at(5)), null));
    }

    private static WitnessVerdict judge(AddCheckpoint request, @Nullable Checkpoint last) {
        return WitnessVerdict.of(request, KNOWN, last);
    }

    private static byte[] octets(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
