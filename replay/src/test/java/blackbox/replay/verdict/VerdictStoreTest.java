package blackbox.replay.verdict;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.log.SignedNote;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.tiles.CheckedLog.Replayed;
import blackbox.evidence.trust.ReplayNote;
import blackbox.evidence.trust.ReplayNote.Outcome;
import blackbox.replay.ReplayException;
import blackbox.replay.verdict.VerdictStore.Document;
import blackbox.schemas.Hash;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Documents on the disk, and what they prove together with the log of runs.
class VerdictStoreTest {
    @TempDir
    Path data;

    private final Verdict verdict = VerdictTest.same();

    private static Replayed leaf(Verdict verdict, Outcome outcome, Hash document) {
        var note = new ReplayNote(verdict.run(), verdict.tier(), outcome, document, verdict.at());
        Ed25519Key key = Ed25519Key.create("blackbox/log/test", new SecureRandom());
        return new Replayed(7, Objects.requireNonNull(SignedNote.parse(SignedNote.sign(note.text(), key))), note);
    }

    @Test
    void aDocumentIsKeptOnceAndAsItIs() throws Exception {
        var store = new VerdictStore(data);
        Document kept = store.keep(verdict);
        assertEquals(
                data.resolve("replays").resolve(verdict.run().value()).resolve("2026-11-22T02-20-07.000000120Z.json"),
                kept.file());
        assertArrayEquals(VerdictJson.encode(verdict), Files.readAllBytes(kept.file()));
        var again = assertThrows(ReplayException.class, () -> store.keep(verdict));
        assertEquals(ReplayException.Code.ENGINE, again.code());
        assertEquals(1, store.list(verdict.run()).size());
        assertEquals(kept.sha256(), store.list(verdict.run()).getFirst().sha256());
    }

    @Test
    void whatTheLogHoldsAndTheDiskHasIsEvidence() throws Exception {
        var store = new VerdictStore(data);
        Document kept = store.keep(verdict);
        var joined =
                LoggedVerdict.join(List.of(leaf(verdict, verdict.outcome(), kept.sha256())), store.list(verdict.run()));
        assertEquals(1, joined.size());
        assertNull(joined.getFirst().fault());
        assertEquals(verdict, joined.getFirst().verdict());
        assertEquals(7, joined.getFirst().index());
    }

    @Test
    void aChangedDocumentIsListedTwiceAndNeverBelieved() throws Exception {
        var store = new VerdictStore(data);
        Document kept = store.keep(verdict);
        String text = Files.readString(kept.file());
        Files.writeString(kept.file(), text.replace("\"comparedEvents\":1200", "\"comparedEvents\":1300"));
        var joined =
                LoggedVerdict.join(List.of(leaf(verdict, verdict.outcome(), kept.sha256())), store.list(verdict.run()));
        assertEquals(2, joined.size());
        assertTrue(String.valueOf(joined.get(0).fault()).contains("missing, or was changed"));
        assertTrue(String.valueOf(joined.get(1).fault()).contains("does not contain it"));
    }

    @Test
    void aLeafThatClaimsMoreThanItsDocumentIsNotBelieved() throws Exception {
        var store = new VerdictStore(data);
        Verdict failed = Verdict.failed(verdict.run(), verdict.at(), verdict.tier(), "QEMU ended");
        Document kept = store.keep(failed);
        var joined =
                LoggedVerdict.join(List.of(leaf(failed, Outcome.IDENTICAL, kept.sha256())), store.list(failed.run()));
        assertTrue(String.valueOf(joined.getFirst().fault()).contains("contradicts the log of runs"));
    }

    @Test
    void aDocumentThatIsNotAVerdictIsReported() throws Exception {
        var store = new VerdictStore(data);
        Document kept = store.keep(verdict);
        Files.writeString(kept.file(), "{}");
        Hash other = Hash.sha256("{}".getBytes(java.nio.charset.StandardCharsets.UTF_8));
        var joined = LoggedVerdict.join(List.of(leaf(verdict, verdict.outcome(), other)), store.list(verdict.run()));
        assertTrue(String.valueOf(joined.getFirst().fault()).contains("an unknown version"));
    }
}
