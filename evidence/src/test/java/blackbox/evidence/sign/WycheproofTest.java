package blackbox.evidence.sign;

import static org.junit.jupiter.api.Assertions.assertEquals;

import blackbox.schemas.Vectors;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/// C2SP/wycheproof's verification vectors, every one of them: what it calls valid verifies, what it calls
/// invalid does not, whether the fault is in the signature or in the key. There are no "acceptable" ones in
/// these files.
class WycheproofTest {

    private static final HexFormat HEX = HexFormat.of();

    @Test
    void ed25519() throws IOException {
        var verdicts = new Verdicts(KeyType.ED25519);
        for (JsonNode group : groups("ed25519_test.json")) {
            verdicts.check(group, octets(group.get("publicKey"), "pk"));
        }
        verdicts.hold(151);
    }

    @Test
    void ecdsaOnP256WithSha256() throws IOException {
        var verdicts = new Verdicts(KeyType.ECDSA);
        for (JsonNode group : groups("ecdsa_secp256r1_sha256_test.json")) {
            verdicts.check(group, octets(group, "publicKeyDer"));
        }
        verdicts.hold(484);
    }

    @Test
    void mlDsa44() throws IOException {
        var verdicts = new Verdicts(KeyType.ML_DSA_44);
        for (JsonNode group : groups("mldsa_44_verify_test.json")) {
            verdicts.check(group, octets(group, "publicKey"));
        }
        verdicts.hold(180);
    }

    @Test
    void mlDsa65() throws IOException {
        var verdicts = new Verdicts(KeyType.ML_DSA_65);
        for (JsonNode group : groups("mldsa_65_verify_test.json")) {
            verdicts.check(group, octets(group, "publicKey"));
        }
        verdicts.hold(210);
    }

    private static JsonNode groups(String file) throws IOException {
        return new ObjectMapper()
                .readTree(Vectors.folder()
                        .resolve("wycheproof/testvectors_v1")
                        .resolve(file)
                        .toFile())
                .get("testGroups");
    }

    private static byte[] octets(JsonNode node, String field) {
        return HEX.parseHex(node.get(field).asText());
    }

    /// Our verdict on each case, beside theirs.
    private static final class Verdicts {
        private final KeyType type;
        private final List<String> wrong = new ArrayList<>();
        private int count;

        Verdicts(KeyType type) {
            this.type = type;
        }

        void check(JsonNode group, byte[] key) {
            Function<JsonNode, Boolean> ours = verifier(key);
            for (JsonNode test : group.get("tests")) {
                count++;
                // A context is part of what is signed. Notes have none, so a signature with one is not over
                // the note.
                boolean usesContext =
                        test.has("ctx") && !test.get("ctx").asText().isEmpty();
                boolean theirs = test.get("result").asText().equals("valid") && !usesContext;
                if (ours.apply(test) != theirs) {
                    wrong.add(test.get("tcId") + " " + test.get("comment") + " " + test.get("flags") + ": should be "
                            + theirs);
                }
            }
        }

        private Function<JsonNode, Boolean> verifier(byte[] key) {
            try {
                var verifier = NoteVerifiers.parse(new VerifierKey("wycheproof", type, key).encoded());
                return test -> verifier.verify(octets(test, "msg"), octets(test, "sig"));
            } catch (IllegalArgumentException e) {
                return _ -> false;
            }
        }

        void hold(int expected) {
            assertEquals(List.of(), wrong);
            assertEquals(expected, count);
        }
    }
}
