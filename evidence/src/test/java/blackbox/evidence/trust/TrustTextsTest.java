package blackbox.evidence.trust;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import blackbox.evidence.log.SignedNote;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.trust.KeyStatement.Action;
import blackbox.evidence.trust.KeyStatement.Role;
import blackbox.evidence.trust.ReplayNote.Outcome;
import blackbox.evidence.trust.ReplayNote.ReplayMethod;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import blackbox.schemas.row.Text;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// The texts of `schemas/trust.md`, version 1, from keys whose seeds are 32 times one octet.
final class TrustTextsTest {

    private static final RunId RUN = new RunId("01jd8x3k9zq4v7w2m5n6p8r0st");
    private static final String LOG = "blackbox/log/01jd8x3k9zq4v7w2m5n6p8r0aa";
    private static final Instant AT = Instant.parse("2026-11-22T02:20:07.000000120Z");

    private static final String CERTIFICATE = """
            blackbox/run-key/v1
            01jd8x3k9zq4v7w2m5n6p8r0st
            blackbox/run/01jd8x3k9zq4v7w2m5n6p8r0st+27fc2f3e+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c
            2026-11-22T02:20:07.000000120Z
            """;

    private static final String STATEMENT = """
            blackbox/key/v1
            begin
            blackbox/log/01jd8x3k9zq4v7w2m5n6p8r0aa
            blackbox/log/01jd8x3k9zq4v7w2m5n6p8r0aa+e95340b2+AYE5dw6ofRdfVqNUZsNMfszLjYqRtO43ol32D1uPybOU
            log
            2026-11-22T02:20:07.000000120Z
            -
            """;

    private static final String REPLAY = """
            blackbox/replay/v1
            01jd8x3k9zq4v7w2m5n6p8r0st
            rerun
            EQUIVALENT
            6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d
            2026-11-22T02:20:07.000000120Z
            """;

    private final Ed25519Key epoch = TrustKeys.key(RUN.origin(), 1);
    private final Ed25519Key log = TrustKeys.key(LOG, 2);

    @Test
    void theCertificateHasItsVersionOneForm() {
        var certificate = new RunKeyCertificate(RUN, epoch.verifier(), AT);
        assertEquals(CERTIFICATE, certificate.text());
        RunKeyCertificate parsed = RunKeyCertificate.parse(certificate.text());
        assertNotNull(parsed);
        assertEquals(AT, parsed.issued());
        assertEquals(epoch.verifier().encoded(), parsed.firstKey().encoded());
    }

    @Test
    void aStatementHasItsVersionOneForm() {
        var begin = new KeyStatement(Action.BEGIN, LOG, log.verifier(), Role.LOG, AT, null);
        assertEquals(STATEMENT, begin.text());
        var ingest = TrustKeys.key("blackbox/ingest", 3).verifier();
        for (KeyStatement statement : List.of(
                begin,
                new KeyStatement(Action.ROTATE, LOG, log.verifier(), Role.LOG, AT, AT.plusSeconds(1)),
                new KeyStatement(Action.CERTIFY, LOG, ingest, Role.INGEST, AT, AT.plusNanos(1)),
                new KeyStatement(Action.REVOKE, LOG, ingest, Role.INGEST, AT, null))) {
            KeyStatement parsed = KeyStatement.parse(statement.text());
            assertNotNull(parsed, statement.text());
            assertEquals(statement.text(), parsed.text());
            assertEquals(statement.action(), parsed.action());
            assertEquals(statement.role(), parsed.role());
            assertEquals(statement.validUntil(), parsed.validUntil());
        }
    }

    @Test
    void aVerdictOnAReplayHasItsVersionOneForm() {
        Hash document = Hash.sha256(new byte[1]);
        assertEquals(REPLAY, new ReplayNote(RUN, ReplayMethod.RERUN, Outcome.EQUIVALENT, document, AT).text());
        for (ReplayMethod tier : ReplayMethod.values()) {
            for (Outcome outcome : Outcome.values()) {
                var note = new ReplayNote(RUN, tier, outcome, document, AT);
                assertEquals(note, ReplayNote.parse(note.text()));
                assertEquals(true, ReplayNote.isOne(note.text()));
            }
        }
        checkFlips(REPLAY, text -> textOf(ReplayNote.parse(text)));
        for (String bad : List.of(
                "",
                REPLAY + "\n",
                REPLAY.replace("v1", "v2"),
                REPLAY.replace("rerun", "RERUN"),
                REPLAY.replace("EQUIVALENT", "equivalent"),
                REPLAY.replace("EQUIVALENT", "PLAYBACK"),
                REPLAY.replace("6e34", "6E34"),
                REPLAY.replace("a01d", "a0"),
                REPLAY.replace(".000000120Z", "Z"))) {
            assertNull(ReplayNote.parse(bad), bad);
        }
        assertEquals(false, ReplayNote.isOne(CERTIFICATE));
    }

    @Test
    void whatParsesIsWhatIsPrintedAndNothingElseParses() {
        checkFlips(CERTIFICATE, text -> textOf(RunKeyCertificate.parse(text)));
        checkFlips(STATEMENT, text -> textOf(KeyStatement.parse(text)));
        for (String bad : List.of("", "\n", CERTIFICATE + "x\n", CERTIFICATE.replace("v1", "v2"))) {
            assertNull(RunKeyCertificate.parse(bad), bad);
        }
        for (String bad : List.of(
                STATEMENT.replace("\n-\n", "\n2026-11-22T02:20:07.000000120Z\n"),
                STATEMENT.replace("\nlog\n", "\ningest\n"),
                STATEMENT.replace("begin", "certify"),
                STATEMENT.replace(".000000120Z", "Z"),
                STATEMENT.replace("T02:", "T26:"),
                STATEMENT.replace("\n-\n", "\n-\r\n"))) {
            assertNull(KeyStatement.parse(bad), bad);
        }
    }

    private static @Nullable String textOf(@Nullable RunKeyCertificate certificate) {
        return certificate == null ? null : certificate.text();
    }

    private static @Nullable String textOf(@Nullable ReplayNote note) {
        return note == null ? null : note.text();
    }

    private static @Nullable String textOf(@Nullable KeyStatement statement) {
        return statement == null ? null : statement.text();
    }

    private static void checkFlips(String text, Function<String, @Nullable String> read) {
        byte[] octets = text.getBytes(StandardCharsets.UTF_8);
        for (int bit = 0; bit < octets.length * 8; bit++) {
            byte[] flipped = octets.clone();
            flipped[bit / 8] ^= (byte) (1 << bit % 8);
            String changed = new String(flipped, StandardCharsets.UTF_8);
            String printed = read.apply(changed);
            assertEquals(printed == null ? null : changed, printed, "bit " + bit);
        }
        assertEquals(text, read.apply(text));
    }

    @Test
    void aCertificateIsForItsRunAlone() {
        var other = new RunId("01jd8x3k9zq4v7w2m5n6p8r0aa");
        assertThrows(IllegalArgumentException.class, () -> new RunKeyCertificate(other, epoch.verifier(), AT));
    }

    @Test
    void aHeartbeatNamesTheNextKey() {
        EpochKey key = EpochKey.of(epoch.verifier());
        String detail = "{\"nextKey\":\"iojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w=\"}";
        assertEquals(detail, key.detail());
        assertEquals(key, EpochKey.ofDetail(Text.of(detail)));
        assertEquals(epoch.verifier().encoded(), key.verifier(RUN).encoded());
        for (String bad : List.of(
                "",
                "{\"nextKey\":\"\"}",
                detail + " ",
                detail.replace("=", ""),
                detail.replace("w=", "x="),
                detail.replace("iojj", "****"),
                "{\"nextKey\":\"}")) {
            assertNull(EpochKey.ofDetail(bad), bad);
        }
    }

    @Test
    void aRunWithACertificateNeverFallsBackToATrustedKey() {
        String checkpoint = RUN.origin() + "\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n";
        var byLog = Objects.requireNonNull(SignedNote.parse(SignedNote.sign(checkpoint, log)));
        var byEpoch = Objects.requireNonNull(SignedNote.parse(SignedNote.sign(checkpoint, epoch)));
        var trusted = List.of(log.verifier(), epoch.verifier());
        NextSigner first = NextSigner.opened(new RunKeyCertificate(RUN, epoch.verifier(), AT));
        assertEquals(true, first.signed(byEpoch, RUN, List.of()));
        assertEquals(false, first.signed(byLog, RUN, trusted));
        var next =
                Text.of(EpochKey.of(TrustKeys.key(RUN.origin(), 9).verifier()).detail());
        assertNull(first.after(null, false), "an epoch that names no next key");
        assertNull(first.after(next, true), "a close that names one");
        NextSigner second = Objects.requireNonNull(first.after(next, false));
        assertEquals(false, second.signed(byEpoch, RUN, trusted), "the key of an epoch that is over");
        NextSigner closed = Objects.requireNonNull(first.after(null, true));
        assertEquals(false, closed.signed(byEpoch, RUN, trusted));
        assertNull(closed.after(next, false));
        NextSigner direct = NextSigner.opened(null);
        assertEquals(true, direct.signed(byLog, RUN, trusted));
        assertEquals(false, direct.signed(byLog, RUN, List.of(epoch.verifier())));
        assertNull(direct.after(next, false));
        assertNull(first.after(Text.of("{}"), false));
        assertNull(first.after(Text.of("{}"), true));
        for (NextSigner signer : List.of(first, second, closed, direct, new NextSigner.Unknown())) {
            assertEquals(signer, NextSigner.parse(signer.text()));
        }
        assertThrows(IllegalArgumentException.class, () -> NextSigner.parse("anyone"));
    }
}
