package blackbox.node.egress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.node.egress.GivenSecrets.Named;
import blackbox.policy.Policy;
import blackbox.policy.SecretSource;
import blackbox.policy.text.PolicyReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Where values come from, what is refused of them, and what the agent is given instead.
final class GivenSecretsTest {
    private static final String VALUE = "ghp_a-value-of-a-test";

    @TempDir
    Path folder;

    private final List<byte[]> handedOut = new ArrayList<>();

    private byte @Nullable [] environment(String name) {
        if (!name.startsWith("SET_")) {
            return null;
        }
        byte[] octets = (name.equals("SET_SHORT") ? "short" : VALUE).getBytes(StandardCharsets.US_ASCII);
        handedOut.add(octets);
        return octets;
    }

    private static Policy policy(String secrets) throws Exception {
        String text = """
                version: 1
                rules:
                  - {id: one, host: one.example, secret: a}
                  - {id: two, host: two.example, secret: b}
                  - {id: three, host: three.example, secret: a}
                """;
        return PolicyReader.read((text + secrets).getBytes(StandardCharsets.UTF_8));
    }

    private GivenSecrets read(Policy policy, Named named) throws Exception {
        return GivenSecrets.read(policy, named, this::environment, new SecureRandom());
    }

    private String refusal(Policy policy, Named named) {
        return String.valueOf(
                assertThrows(IOException.class, () -> read(policy, named)).getMessage());
    }

    @Test
    void aVariableIsGivenByItsNameAndOthersAsTheUserSays() throws Exception {
        var named = new Named(Map.of("b", new SecretSource.Variable("SET_B")), Map.of("THERE", "a", "AGAIN", "a"));
        Policy policy = policy("secrets: [{id: a, env: SET_A}, {id: b}]\n");
        GivenSecrets given = read(policy, named);
        assertEquals(Set.of("SET_B", "THERE", "AGAIN"), given.surrogates().keySet());
        assertEquals(given.surrogates().get("THERE"), given.surrogates().get("AGAIN"));
        given.surrogates().values().forEach(each -> assertTrue(each.matches("ghp_[0-9a-f]{32}"), each));
        assertEquals(
                List.of("one", "three"),
                Objects.requireNonNull(given.secrets().named("a")).rules());
        given.close();
        handedOut.forEach(octets ->
                assertEquals("\0".repeat(VALUE.length()), new String(octets, StandardCharsets.US_ASCII), "cleared"));
    }

    @Test
    void aPolicyThatDeclaresNoneIsCompletedByTheUser() throws Exception {
        Policy policy = policy("");
        var named = new Named(
                Map.of("a", new SecretSource.Variable("SET_A"), "b", new SecretSource.Variable("SET_B")), Map.of());
        assertEquals(Set.of("SET_A", "SET_B"), read(policy, named).surrogates().keySet());
    }

    @Test
    void whatIsMissingOrContradictsItselfIsSaid() throws Exception {
        Policy declared = policy("secrets: [{id: a, env: SET_A}, {id: b}]\n");
        var b = new SecretSource.Variable("SET_B");
        assertTrue(refusal(declared, Named.NOTHING).contains("add --secret b=file:PATH"));
        assertTrue(refusal(declared, new Named(Map.of("c", b), Map.of())).startsWith("--secret c: no rule"));
        assertTrue(
                refusal(declared, new Named(Map.of("a", b, "b", b), Map.of())).contains("says already"));
        assertTrue(
                refusal(declared, new Named(Map.of("b", b), Map.of("X", "c"))).startsWith("--secret-env X=c: no"));
        assertTrue(refusal(declared, new Named(Map.of("b", new SecretSource.Variable("SET_A")), Map.of()))
                .contains("both the secret a and b"));
        assertTrue(refusal(declared, new Named(Map.of("b", new SecretSource.File("x")), Map.of()))
                .contains("--secret-env NAME=b"));
        assertEquals(
                "secret b: the variable UNSET is not set here",
                refusal(declared, new Named(Map.of("b", new SecretSource.Variable("UNSET")), Map.of())));
        handedOut.forEach(octets -> assertEquals(0, octets[0], "what was read before is cleared"));
        assertEquals(
                "secret b: the variable SET_SHORT: it has 5 octets; a secret has 8 to 4096",
                refusal(declared, new Named(Map.of("b", new SecretSource.Variable("SET_SHORT")), Map.of())));
    }

    private static String text(SecretSource source) throws Exception {
        return text(source, Duration.ofSeconds(20));
    }

    private static String text(SecretSource source, Duration most) throws Exception {
        try (var value = new SecretReading(name -> null, most).read(source)) {
            return value.toString();
        }
    }

    private static String refusal(SecretSource source) {
        return refusal(source, Duration.ofSeconds(20));
    }

    private static String refusal(SecretSource source, Duration most) {
        return String.valueOf(
                assertThrows(IOException.class, () -> text(source, most)).getMessage());
    }

    private SecretSource file(String name, String content, String permissions) throws IOException {
        Path file = Files.writeString(folder.resolve(name), content);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
        return new SecretSource.File(file.toString());
    }

    @ParameterizedTest
    @CsvSource({"rw-r-----", "rw-----w-", "rw----r--", "rwx--x---"})
    void aFileOfOthersIsRefused(String permissions) throws Exception {
        assertTrue(refusal(file("open", VALUE, permissions)).contains("chmod 600"), permissions);
        assertEquals("a secret", text(file("open", VALUE, "r--------")));
    }

    @Test
    void filesAreRegularBoundedAndEndedByOneLineFeed() throws Exception {
        assertEquals("a secret", text(file("line", VALUE + "\n", "rw-------")));
        assertEquals("a secret", text(file("crlf", VALUE + "\r\n", "rw-------")));
        assertTrue(refusal(file("two", VALUE + "\n\n", "rw-------")).contains("cannot stand in a header field"));
        assertTrue(refusal(file("empty", "\n", "rw-------")).contains("it is empty"));
        assertTrue(refusal(file("long", "x".repeat(4_097), "rw-------")).contains("has 4097 octets"));
        assertTrue(refusal(file("endless", "x".repeat(70_000), "rw-------")).contains("more than 65536 bytes"));
        assertTrue(refusal(new SecretSource.File(folder.toString())).contains("no regular file"));
        assertTrue(refusal(new SecretSource.File(folder + "/none")).contains("does not exist"));
        String said = refusal(file("bad", VALUE + "\u0001", "rw-------"));
        assertFalse(said.contains(VALUE), said);
    }

    private static SecretSource shell(String script) {
        return new SecretSource.Command(List.of("sh", "-c", script));
    }

    @Test
    void aCommandPrintsItInTime() {
        assertEquals("a secret", assertReads(shell("echo " + VALUE)));
        assertEquals(
                "the command sh failed with exit code 3; what it says is not shown, since the secret may be in it: run it"
                        + " in a terminal to see why",
                refusal(shell("echo " + VALUE + "; echo cannot parse " + VALUE + " >&2; exit 3")));
        assertEquals("a secret", assertReads(shell("head -c 300000 /dev/zero >&2; echo " + VALUE)));
        assertTrue(refusal(shell("yes")).contains("prints more than the 4096 octets"));
        assertTrue(refusal(shell("cat; echo short")).contains("it has 5 octets"), "its input is empty");
        assertTrue(refusal(new SecretSource.Command(List.of("/nowhere/to/be/found")))
                .contains("cannot be run"));
        String late = refusal(shell("sleep 100 & wait"), Duration.ofMillis(200));
        assertTrue(late.contains("has not ended within"), late);
    }

    private static String assertReads(SecretSource source) {
        try {
            return text(source);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void theGatewayHoldsPlacesThatItCanFill() throws Exception {
        assertEquals(List.of(), GatewayPolicy.beyond(policy("""
                secrets:
                  - {id: a, env: SET_A, place: basic}
                  - {id: b, env: SET_B, place: "body:/auth/key"}
                """)));
        List<String> beyond = GatewayPolicy.beyond(policy("""
                secrets:
                  - {id: a, env: SET_A, place: basic}
                  - {id: b, env: SET_B, place: "header:host"}
                """));
        assertEquals(1, beyond.size(), beyond::toString);
        assertTrue(beyond.getFirst().contains("writes the header field host itself"), beyond::toString);
    }
}
