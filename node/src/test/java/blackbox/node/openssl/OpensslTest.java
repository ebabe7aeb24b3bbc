package blackbox.node.openssl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.sign.Ed25519Shortcut;
import blackbox.evidence.sign.Ed25519Verifier;
import blackbox.schemas.Vectors;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Every verdict is the same whether OpenSSL is asked first or not.
class OpensslTest {

    private static final HexFormat HEX = HexFormat.of();

    /// More than are verified before a shortcut is loaded.
    private static final int MANY = 100;

    private final Openssl openssl = Objects.requireNonNull(Openssl.load(), "no libcrypto.so.3: run scripts/setup");
    private final AtomicInteger found = new AtomicInteger();
    private final List<Case> cases = new ArrayList<>();

    private record Case(String what, byte[] key, byte[] text, byte[] signature) {
        boolean verifies() {
            try {
                return Ed25519Verifier.of("odd", key).verify(text, signature);
            } catch (IllegalArgumentException e) {
                return false;
            }
        }
    }

    @AfterEach
    void withoutAny() {
        Ed25519Verifier.useShortcut(() -> null);
    }

    /// Cases on which verifiers that follow RFC 8032 differ. Only OpenSSL accepts keys that are not in their
    /// canonical encoding.
    @Test
    void oddSignatures() throws IOException {
        for (JsonNode test : read("cctv/ed25519/ed25519vectors.json")) {
            byte[] text = test.get("msg").asText().getBytes(StandardCharsets.UTF_8);
            add(test.get("number") + " " + test.get("flags"), octets(test, "key"), text, octets(test, "sig"));
        }
        assertEquals(914, cases.size());
        assertEquals(172, taken());
        assertTrue(
                cases.stream()
                        .anyMatch(odd -> !odd.verifies() && openssl.holds(odd.key(), odd.text(), odd.signature())),
                "the cases distinguish OpenSSL's rule from the provider's");
    }

    @Test
    void wycheproofVectors() throws IOException {
        for (JsonNode group :
                read("wycheproof/testvectors_v1/ed25519_test.json").get("testGroups")) {
            for (JsonNode test : group.get("tests")) {
                String what = test.get("tcId") + " " + test.get("comment");
                add(what, octets(group.get("publicKey"), "pk"), octets(test, "msg"), octets(test, "sig"));
            }
        }
        assertEquals(151, cases.size());
        assertEquals(taken(), found.get());
    }

    @Test
    void oneBitMakesTheDifference() {
        var random = new Random(4);
        for (int i = 0; i < 50; i++) {
            Ed25519Key key = Ed25519Key.create("bit", new SecureRandom());
            var text = new byte[1 + random.nextInt(400)];
            random.nextBytes(text);
            byte[] signature = key.sign(text);
            byte[] publicKey = key.verifier().publicKey();
            add("as signed", publicKey, text, signature);
            byte[][] parts = {publicKey.clone(), text.clone(), signature.clone()};
            byte[] changed = parts[i % 3];
            changed[random.nextInt(changed.length)] ^= (byte) (1 << random.nextInt(8));
            add("one bit", parts[0], parts[1], parts[2]);
        }
        assertEquals(50, taken());
        assertEquals(50, found.get());
    }

    @Test
    void reportsItsVersion() {
        assertTrue(openssl.version().startsWith("OpenSSL 3."), openssl::version);
    }

    private void add(String what, byte[] key, byte[] text, byte[] signature) {
        cases.add(new Case(what, key, text, signature));
    }

    /// How many are accepted, with OpenSSL and without.
    private long taken() {
        List<String> alone = takenWith(null);
        List<String> both = takenWith((key, text, signature) -> {
            boolean holds = openssl.holds(key, text, signature);
            found.addAndGet(holds ? 1 : 0);
            return holds;
        });
        assertTrue(found.get() > 0, "OpenSSL accepted none");
        assertEquals(alone, both);
        return both.size();
    }

    private List<String> takenWith(@Nullable Ed25519Shortcut shortcut) {
        Ed25519Verifier.useShortcut(() -> shortcut);
        for (int i = 0; i < MANY; i++) {
            cases.getFirst().verifies();
        }
        found.set(0);
        return cases.stream().filter(Case::verifies).map(Case::what).toList();
    }

    private static JsonNode read(String file) throws IOException {
        return new ObjectMapper().readTree(Vectors.folder().resolve(file).toFile());
    }

    private static byte[] octets(JsonNode node, String field) {
        return HEX.parseHex(node.get(field).asText());
    }
}
