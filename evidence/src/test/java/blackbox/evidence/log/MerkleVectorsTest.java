package blackbox.evidence.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.schemas.Hash;
import blackbox.schemas.Vectors;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// The vectors of transparency-dev/merkle. Blackbox has no proofs about subtrees that start elsewhere than at
/// leaf 0, so of the subtree vectors those are read that do start there and are not empty: they are inclusion
/// and consistency once more.
class MerkleVectorsTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    @Test
    void inclusion() throws IOException {
        assertEquals(98, check("inclusion", proof -> included(proof, "treeSize")));
    }

    @Test
    void consistency() throws IOException {
        assertEquals(98, check("consistency", proof -> consistent(proof, "size1", "size2")));
    }

    @Test
    void inclusionInASubtreeThatStartsAtTheFirstLeaf() throws IOException {
        assertTrue(check("subtreeinclusion", proof -> included(proof, "end")) > 20);
    }

    @Test
    void consistencyOfASubtreeThatStartsAtTheFirstLeaf() throws IOException {
        assertTrue(check("subtreeconsistency", proof -> consistent(proof, "end", "size")) > 20);
    }

    /// The number of vectors below `folder` that were checked; each must come out as it says.
    private static int check(String folder, Predicate<JsonNode> holds) throws IOException {
        Path root = Vectors.folder().resolve("transparency-dev-merkle/testdata").resolve(folder);
        var wrong = new ArrayList<String>();
        int checked = 0;
        int good = 0;
        for (Path file : files(root)) {
            JsonNode proof = JSON.readTree(file.toFile());
            if (proof.path("start").asLong(0) == 0 && proof.path("end").asLong(1) > 0) {
                checked++;
                boolean wanted = !proof.required("wantErr").booleanValue();
                good += wanted ? 1 : 0;
                if (holds.test(proof) != wanted) {
                    wrong.add(root.relativize(file) + ": " + proof);
                }
            }
        }
        assertEquals(List.of(), wrong);
        assertTrue(good > 0 && good < checked);
        return checked;
    }

    private static List<Path> files(Path root) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            return files.filter(file -> file.toString().endsWith(".json")).toList();
        }
    }

    private static boolean included(JsonNode proof, String size) {
        if (proof.required("root").asText().isEmpty()
                || proof.required("leafHash").asText().isEmpty()) {
            return false; // no octets are no hash, so such a proof cannot even be written down
        }
        var inclusion = new InclusionProof(number(proof, "leafIdx"), number(proof, size), path(proof));
        return hash(proof.required("root")).equals(inclusion.root(hash(proof.required("leafHash"))));
    }

    private static boolean consistent(JsonNode proof, String oldSize, String newSize) {
        var consistency = new ConsistencyProof(number(proof, oldSize), number(proof, newSize), path(proof));
        return consistency.holds(hash(proof.required("root1")), hash(proof.required("root2")));
    }

    /// Numbers from 2^63 on, which the vectors have, are negative in Java and so no index or size.
    private static long number(JsonNode proof, String field) {
        return proof.required(field).bigIntegerValue().longValue();
    }

    private static List<Hash> path(JsonNode proof) {
        var path = new ArrayList<Hash>();
        proof.required("proof").forEach(hash -> path.add(hash(hash)));
        return path;
    }

    /// Some vectors have a few letters where any hash would do; their SHA-256 stands in for them.
    private static Hash hash(JsonNode base64) {
        try {
            byte[] octets = base64.binaryValue();
            return octets.length == Hash.LENGTH ? Hash.copyOf(octets, 0) : Hash.sha256(octets);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
