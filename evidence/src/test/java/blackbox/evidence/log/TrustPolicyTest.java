package blackbox.evidence.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.schemas.Hash;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Policies over keys whose "signature" is a digest anyone could make: what is tested is the policy, not the
/// algorithm.
class TrustPolicyTest {

    private static final int LOG = 1;
    private static final int WITNESS = 4;

    private record TestKey(String name, int type, int seed) implements NoteVerifier, NoteSigner {

        private byte[] publicKey() {
            return Hash.sha256(new byte[] {(byte) seed}).toBytes();
        }

        @Override
        public int keyId() {
            return ByteBuffer.wrap(publicKey()).getInt() ^ name.hashCode() ^ type;
        }

        @Override
        public String encoded() {
            byte[] octets =
                    ByteBuffer.allocate(33).put((byte) type).put(publicKey()).array();
            return name + "+" + String.format("%08x", keyId()) + "+"
                    + Base64.getEncoder().encodeToString(octets);
        }

        @Override
        public NoteVerifier verifier() {
            return this;
        }

        @Override
        public byte[] sign(byte[] text) {
            byte[] both = ByteBuffer.allocate(text.length + 32)
                    .put(text)
                    .put(publicKey())
                    .array();
            return ByteBuffer.allocate(40)
                    .putLong(1_700_000_000L + seed)
                    .put(Hash.sha256(both).toBytes())
                    .array();
        }

        @Override
        public boolean verify(byte[] text, byte[] signature) {
            return ByteBuffer.wrap(sign(text)).equals(ByteBuffer.wrap(signature));
        }

        static NoteVerifier parse(String vkey) {
            String[] parts = vkey.split("\\+", 3);
            byte[] octets = Base64.getDecoder().decode(parts[parts.length - 1]);
            for (int seed = 0; seed < 100; seed++) {
                var key = new TestKey(parts[0], octets[0], seed);
                if (key.encoded().equals(vkey)) {
                    return key;
                }
            }
            throw new IllegalArgumentException("not a key: '" + vkey + "'");
        }
    }

    private static final TestKey LOG_KEY = new TestKey("example.com/log", LOG, 0);
    private static final String LOG_LINE = "log " + LOG_KEY.encoded() + "\n";

    private static TestKey witness(int seed) {
        return new TestKey("witness/" + seed, WITNESS, seed);
    }

    private static String witnessLine(String name, int seed) {
        return "witness " + name + " " + witness(seed).encoded() + "\n";
    }

    private static final String TWO_LEVELS = LOG_LINE
            + witnessLine("X1", 1) + witnessLine("X2", 2) + witnessLine("X3", 3)
            + "group X-witnesses 2 X1 X2 X3\n"
            + witnessLine("Y1", 4) + witnessLine("Y2", 5) + witnessLine("Y3", 6)
            + "group Y-witnesses any Y1 Y2 Y3\n"
            + "group X-and-Y all X-witnesses Y-witnesses\nquorum X-and-Y\n";

    private static TrustPolicy policy(String text) {
        return TrustPolicy.parse(text, TestKey::parse);
    }

    private static SignedNote note(String origin, TestKey... signers) {
        String text = new Checkpoint(origin, 5, Hash.ZERO).text();
        SignedNote note = SignedNote.parse(SignedNote.sign(text, List.of(signers)));
        if (note == null) {
            throw new IllegalStateException("a signed note cannot be read");
        }
        return note;
    }

    private static boolean satisfied(String policy, int... witnesses) {
        var signers = new ArrayList<TestKey>();
        signers.add(LOG_KEY);
        for (int seed : witnesses) {
            signers.add(witness(seed));
        }
        return policy(policy)
                .judge(note("example.com/log", signers.toArray(TestKey[]::new)))
                .satisfied();
    }

    /// The example of C2SP tlog-policy.
    @Test
    void aQuorumOfTwoLevels() {
        assertTrue(satisfied(TWO_LEVELS, 1, 2, 4));
        assertTrue(satisfied(TWO_LEVELS, 6, 3, 1));
        assertTrue(satisfied(TWO_LEVELS, 1, 2, 3, 4, 5, 6));
        assertFalse(satisfied(TWO_LEVELS, 1, 2, 3));
        assertFalse(satisfied(TWO_LEVELS, 1, 4, 5, 6));
        assertFalse(satisfied(TWO_LEVELS));
        assertFalse(satisfied(TWO_LEVELS, 1, 9, 4));
    }

    @Test
    void thresholdsCount() {
        String three = LOG_LINE + witnessLine("a", 1) + witnessLine("b", 2) + witnessLine("c", 3);
        assertTrue(satisfied(three + "quorum none\n"));
        assertTrue(satisfied(three + "quorum b\n", 2));
        assertFalse(satisfied(three + "quorum b\n", 1, 3));
        assertTrue(satisfied(three + "group g 3 a b c\nquorum g\n", 1, 2, 3));
        assertFalse(satisfied(three + "group g all a b c\nquorum g\n", 1, 2));
        assertTrue(satisfied(three + "group g any a b c\nquorum g\n", 3));
    }

    @Test
    void theJudgementNamesWhoSignedAndWhen() {
        var judgement = policy(TWO_LEVELS).judge(note("example.com/log", LOG_KEY, witness(2), witness(9)));
        assertEquals(LOG_KEY, judgement.log());
        assertEquals(List.of(new TrustPolicy.Cosigned("X2", 1_700_000_002L)), judgement.cosigned());
        assertFalse(judgement.quorum());
    }

    @Test
    void aLogSpeaksForItsOwnOriginOnly() {
        TrustPolicy policy = policy(LOG_LINE + "quorum none\n");
        assertTrue(policy.judge(note("example.com/log", LOG_KEY)).satisfied());
        assertNull(policy.judge(note("example.com/other", LOG_KEY)).log());
        assertNull(policy.judge(note("example.com/log", new TestKey("example.com/log", LOG, 7)))
                .log());
        assertFalse(policy.withLogs(List.of())
                .judge(note("example.com/log", LOG_KEY))
                .satisfied());
    }

    @Test
    void oneBadLineOfAKnownKeySpoilsTheNote() {
        SignedNote good = note("example.com/log", LOG_KEY, witness(1));
        String policy = LOG_LINE + witnessLine("w", 1) + "quorum none\n";
        assertTrue(policy(policy).judge(good).satisfied());
        var forged = new SignedNote.Signature("witness/1", witness(1).keyId(), new byte[40]);
        assertFalse(policy(policy).judge(good.with(forged)).satisfied());
        byte[] text = "not a checkpoint\n".getBytes(StandardCharsets.UTF_8);
        var line = new SignedNote.Signature(LOG_KEY.name(), LOG_KEY.keyId(), LOG_KEY.sign(text));
        assertFalse(policy(policy)
                .judge(new SignedNote("not a checkpoint\n", List.of(line)))
                .satisfied());
    }

    @Test
    void aPolicyIsWrittenAsItIsRead() {
        TrustPolicy policy = policy("# ours\n\t\n  " + TWO_LEVELS.replace(" X1 ", "\t X1 \t"));
        assertEquals(TWO_LEVELS.replace(" any ", " 1 ").replace(" all ", " 2 "), sorted(policy.text()));
        assertEquals(policy.text(), policy(policy.text()).text());
        assertEquals(
                policy(LOG_LINE + "quorum none").text(),
                policy("log " + LOG_KEY.encoded() + " https://example.com/\nquorum none\n")
                        .text());
    }

    /// The groups of a policy's text behind the witnesses they use, as [#TWO_LEVELS] has them.
    private static String sorted(String text) {
        String group = text.lines()
                        .filter(line -> line.startsWith("group X-w"))
                        .findFirst()
                        .orElseThrow() + "\n";
        return text.replace(group, "").replace("witness Y1", group + "witness Y1");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "quorum nobody\n",
                "quorum none\nquorum none\n",
                "quorum\n",
                "quorum none none\n",
                "group g any w\nW\nquorum g\n",
                "W\ngroup g 0 w\nquorum g\n",
                "W\ngroup g 2 w\nquorum g\n",
                "W\ngroup g 01 w\nquorum g\n",
                "W\ngroup g +1 w\nquorum g\n",
                "W\ngroup g most w\nquorum g\n",
                "W\ngroup g any\nquorum g\n",
                "W\ngroup g any none\nquorum g\n",
                "W\ngroup g any g\nquorum g\n",
                "W\ngroup g any w w\nquorum g\n",
                "W\ngroup g any w\ngroup h any w\nquorum g\n",
                "W\ngroup w any w\nquorum w\n",
                "W\nW\nquorum w\n",
                "W\nW2\nquorum w\n",
                "W\ngroup none any w\nquorum none\n",
                "L\nL\nquorum none\n",
                "L\nL2\nquorum none\n",
                "log\nquorum none\n",
                "log nonsense\nquorum none\n",
                "witness w\nquorum none\n",
                "witness none V\nquorum none\n",
                "witness w LV\nquorum none\n",
                "log V\nquorum none\n",
                "Quorum none\n",
                "quorum none\r\n",
                "quorum none\u0007\n",
                "quorum none\u007f\n",
                "quorum\u00a0none\n",
                "trust everyone\nquorum none\n"
            })
    void anythingElseIsRefused(String text) {
        String policy = text.replaceAll("(?m)^L$", LOG_LINE.strip())
                .replaceAll("(?m)^L2$", "log " + new TestKey("other", LOG, 0).encoded())
                .replaceAll("(?m)^W$", witnessLine("w", 1).strip())
                .replaceAll("(?m)^W2$", witnessLine("w2", 1).strip())
                .replace(" LV", " " + LOG_KEY.encoded())
                .replace(" V", " " + witness(1).encoded());
        var refused = assertThrows(IllegalArgumentException.class, () -> policy(policy));
        assertTrue(String.valueOf(refused.getMessage()).startsWith("trust policy"), refused::toString);
    }
}
