package blackbox.evidence.trust;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.trust.KeyStatement.Action;
import blackbox.evidence.trust.KeyStatement.Role;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class KeyHistoryTest {

    private static final String LOG = "blackbox/log/test";
    private static final Instant T0 = Instant.parse("2026-11-22T00:00:00Z");

    private final Ed25519Key first = TrustKeys.key(LOG, 1);
    private final Ed25519Key second = TrustKeys.key(LOG, 2);
    private final Ed25519Key ingest = TrustKeys.key("blackbox/ingest", 3);
    private final Ed25519Key stranger = TrustKeys.key(LOG, 4);
    private final KeyHistory history = new KeyHistory(List.of(first.verifier()));

    private static Instant at(long seconds) {
        return T0.plusSeconds(seconds);
    }

    private static SignedNote statement(
            Action action, Ed25519Key key, Role role, long from, @Nullable Instant until, Ed25519Key... signers) {
        var statement = new KeyStatement(action, LOG, key.verifier(), role, at(from), until);
        return note(SignedNote.sign(statement.text(), List.of(signers)));
    }

    private static SignedNote note(String text) {
        SignedNote note = SignedNote.parse(text);
        assertNotNull(note);
        return note;
    }

    private void begin() {
        assertNull(history.add(0, statement(Action.BEGIN, first, Role.LOG, 0, null, first)));
    }

    private void rotate(long index) {
        assertNull(history.add(index, statement(Action.ROTATE, second, Role.LOG, 10, null, first, second)));
    }

    private static List<String> names(List<NoteVerifier> keys) {
        return keys.stream().map(NoteVerifier::encoded).toList();
    }

    private void assertLogKey(long index, Ed25519Key key) {
        assertEquals(List.of(key.verifier().encoded()), names(history.believed(Role.LOG, index)), "index " + index);
    }

    @Test
    void nothingIsBelievedBeforeTheLogBegins() {
        assertEquals(List.of(), history.believed(Role.LOG, 0));
        assertFalse(history.isTrusted());
        begin();
        assertTrue(history.isTrusted());
        assertLogKey(0, first);
        assertLogKey(1_000, first);
        assertEquals(List.of(), history.believed(Role.INGEST, 5));
    }

    @Test
    void aRotationEndsTheOldKeyAtItsOwnLeaf() {
        begin();
        rotate(7);
        assertLogKey(7, first);
        assertLogKey(8, second);
        assertEquals(List.of(), history.believed(Role.LOG, 8, at(9)), "before it is valid");
        assertEquals(
                second.verifier().encoded(),
                Objects.requireNonNull(history.currentLogKey()).encoded());
        assertNotNull(history.add(9, statement(Action.CERTIFY, ingest, Role.INGEST, 20, null, first)));
    }

    @Test
    void trustInAnyOfTheLogsKeysIsTrustInTheChain() {
        var later = new KeyHistory(List.of(second.verifier()));
        assertNull(later.add(0, statement(Action.BEGIN, first, Role.LOG, 0, null, first)));
        assertEquals(List.of(), later.believed(Role.LOG, 0));
        assertNull(later.add(4, statement(Action.ROTATE, second, Role.LOG, 10, null, first, second)));
        assertEquals(List.of(first.verifier().encoded()), names(later.believed(Role.LOG, 3)));
        var nobody = new KeyHistory(List.of(stranger.verifier(), ingest.verifier()));
        assertNull(nobody.add(0, statement(Action.BEGIN, first, Role.LOG, 0, null, first)));
        assertNull(nobody.add(1, statement(Action.CERTIFY, ingest, Role.INGEST, 1, null, first)));
        assertEquals(List.of(), nobody.believed(Role.LOG, 1));
        assertEquals(List.of(), nobody.sealers());
    }

    @Test
    void aCertifiedKeyIsBelievedFromItsLeafOnAndInItsTime() {
        begin();
        assertNull(history.add(3, statement(Action.CERTIFY, ingest, Role.INGEST, 5, at(50), first)));
        assertEquals(List.of(), history.believed(Role.INGEST, 3));
        assertEquals(1, history.believed(Role.INGEST, 4, at(5)).size());
        assertEquals(List.of(), history.believed(Role.INGEST, 4, at(4)));
        assertEquals(List.of(), history.believed(Role.INGEST, 4, at(50)), "expired");
        assertLogKey(4, first);
    }

    @Test
    void aRevokedKeySignsNothingThatComesLater() {
        begin();
        assertNull(history.add(3, statement(Action.CERTIFY, ingest, Role.INGEST, 5, null, first)));
        assertEquals(1, history.sealers().size());
        assertNull(history.add(6, statement(Action.REVOKE, ingest, Role.INGEST, 9, null, first)));
        assertEquals(1, history.believed(Role.INGEST, 6).size());
        assertEquals(List.of(), history.believed(Role.INGEST, 7));
        assertEquals(List.of(), history.sealers(), "its seals have no place in the log");
        assertNull(history.add(8, statement(Action.REVOKE, first, Role.LOG, 10, null, first)));
        assertLogKey(8, first);
        assertEquals(List.of(), history.believed(Role.LOG, 9));
        assertNull(history.currentLogKey());
        assertNotNull(history.add(9, statement(Action.ROTATE, second, Role.LOG, 11, null, first, second)));
    }

    @Test
    void anExpiredKeyCannotNameItsSuccessor() {
        assertNull(history.add(0, statement(Action.BEGIN, first, Role.LOG, 0, at(10), first)));
        assertEquals(1, history.believed(Role.LOG, 5, at(9)).size());
        assertEquals(List.of(), history.believed(Role.LOG, 5, at(10)));
        assertNotNull(history.add(5, statement(Action.ROTATE, second, Role.LOG, 10, null, first, second)));
    }

    @Test
    void whatDoesNotHoldEndsAllBelief() {
        for (SignedNote bad : List.of(
                statement(Action.ROTATE, stranger, Role.LOG, 5, null, stranger),
                statement(Action.ROTATE, second, Role.LOG, 5, null, first),
                statement(Action.ROTATE, second, Role.LOG, 5, null, second),
                statement(Action.ROTATE, first, Role.LOG, 5, null, first),
                statement(Action.CERTIFY, ingest, Role.INGEST, 5, null, ingest),
                statement(Action.REVOKE, ingest, Role.INGEST, 5, null, first),
                statement(Action.BEGIN, second, Role.LOG, 5, null, second),
                note(SignedNote.sign("blackbox/key/v2\n", first)))) {
            var fresh = new KeyHistory(List.of(first.verifier(), second.verifier(), stranger.verifier()));
            assertNull(fresh.add(0, statement(Action.BEGIN, first, Role.LOG, 0, null, first)));
            assertNotNull(fresh.add(2, bad), bad.text());
            assertEquals(1, fresh.believed(Role.LOG, 1).size());
            assertEquals(List.of(), fresh.believed(Role.LOG, 2));
            assertNotNull(fresh.add(3, statement(Action.CERTIFY, ingest, Role.INGEST, 6, null, first)));
        }
    }

    @Test
    void timeDoesNotGoBack() {
        begin();
        rotate(1);
        assertNotNull(history.add(2, statement(Action.CERTIFY, ingest, Role.INGEST, 9, null, second)));
    }

    @Test
    void anotherLogsStatementIsRefused() {
        begin();
        Ed25519Key other = TrustKeys.key("blackbox/log/other", 1);
        var statement =
                new KeyStatement(Action.CERTIFY, "blackbox/log/other", ingest.verifier(), Role.INGEST, at(3), null);
        SignedNote note = note(SignedNote.sign(statement.text(), List.of(first, other)));
        assertNotNull(history.add(1, note));
        assertNotNull(new KeyHistory(List.of()).add(1, note), "a log that does not begin with its key");
    }
}
