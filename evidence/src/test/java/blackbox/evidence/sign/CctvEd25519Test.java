package blackbox.evidence.sign;

import static org.junit.jupiter.api.Assertions.assertEquals;

import blackbox.schemas.Vectors;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;

/// C2SP/CCTV's Ed25519 cases: signatures on which verifiers that all follow RFC 8032 differ. Nothing says
/// which verdict is right; this pins down ours, so that a provider that changes its rule is noticed.
///
/// Our rule: the equation without the cofactor, `S B = R + k A`; the encodings of R and of A must be
/// canonical; points of low order are taken like any other. A signature of a key that someone made as RFC
/// 8032 says has one verdict under every rule: only who makes a key or a signature on purpose gets to choose
/// between them.
class CctvEd25519Test {

    private static final HexFormat HEX = HexFormat.of();

    /// What makes a signature fail under our rule: a residue that multiplying by the cofactor would take
    /// away, or an encoding that has a shorter name.
    private static final Set<String> REFUSED = Set.of("low_order_residue", "non_canonical_A", "non_canonical_R");

    @Test
    void oneRuleExplainsAllVerdicts() throws IOException {
        JsonNode cases = new ObjectMapper()
                .readTree(Vectors.folder()
                        .resolve("cctv/ed25519/ed25519vectors.json")
                        .toFile());
        List<String> unexplained = new ArrayList<>();
        int taken = 0;
        for (JsonNode test : cases) {
            boolean verifies = verifies(test);
            taken += verifies ? 1 : 0;
            if (verifies == flags(test).stream().anyMatch(REFUSED::contains)) {
                unexplained.add(test.get("number") + " " + flags(test) + " verifies: " + verifies);
            }
        }
        assertEquals(List.of(), unexplained);
        assertEquals(914, cases.size());
        assertEquals(172, taken);
    }

    private static Set<String> flags(JsonNode test) {
        return StreamSupport.stream(test.get("flags").spliterator(), false)
                .map(JsonNode::asText)
                .collect(Collectors.toSet());
    }

    private static boolean verifies(JsonNode test) {
        var key = new VerifierKey(
                "cctv", KeyType.ED25519, HEX.parseHex(test.get("key").asText()));
        try {
            byte[] message = test.get("msg").asText().getBytes(StandardCharsets.UTF_8);
            return NoteVerifiers.parse(key.encoded())
                    .verify(message, HEX.parseHex(test.get("sig").asText()));
        } catch (IllegalArgumentException e) {
            return false;
        }
    }
}
