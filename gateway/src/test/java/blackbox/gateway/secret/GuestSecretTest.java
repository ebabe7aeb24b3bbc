package blackbox.gateway.secret;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.JsonPointer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GuestSecretTest {

    private static SecretValue value(String text) {
        return new SecretValue(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    @ParameterizedTest
    @CsvSource({
        "sk-ant-api03-abcdefgh, sk-ant-api03-",
        "sk-ant-other-abcdefgh, sk-ant-",
        "sk-proj-abcdefgh, sk-proj-",
        "sk-abcdefgh, sk-",
        "ghp_abcdefgh, ghp_",
        "github_pat_abcdefgh, github_pat_",
        "AIzaSyabcdefgh, AIza",
        "correct horse, surrogate-"
    })
    void aSurrogateKeepsTheBeginningThatIsPublic(String text, String prefix) {
        var random = new SecureRandom();
        String one = Surrogates.of(value(text), random);
        assertTrue(one.matches(prefix + "[0-9a-f]{32}"), one);
        assertNotEquals(one, Surrogates.of(value(text), random));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "7octets", "with\r\nline", "with\0nul", " spaced out", "spaced out ", "caf\u00e9 caf\u00e9"})
    void whatCannotStandInAFieldIsRefusedAndCleared(String text) {
        byte[] octets = text.getBytes(StandardCharsets.ISO_8859_1);
        var refused = assertThrows(IllegalArgumentException.class, () -> new SecretValue(octets));
        assertTrue(text.isEmpty() || !String.valueOf(refused.getMessage()).contains(text), refused.getMessage());
        assertEquals("\0".repeat(octets.length), new String(octets, StandardCharsets.ISO_8859_1));
        assertThrows(IllegalArgumentException.class, () -> value("x".repeat(4_097)));
        assertEquals(4_096, value("x".repeat(4_096)).octets().length);
    }

    @Test
    void nothingPrintsIt() {
        var secret = new GuestSecret(
                "key", "surrogate-0123456789abcdef", new SecretPlace.Basic(), List.of("r"), value("the-value-itself"));
        String printed = secret + " " + secret.value();
        assertFalse(printed.contains("the-value"), printed);
        assertFalse(printed.contains("surrogate-"), printed);
    }

    @Test
    void placesThatTheGatewayWritesItselfAreNone() {
        for (String place : List.of("header:Host", "header:content-length", "header:proxy-authorization")) {
            assertThrows(IllegalArgumentException.class, () -> SecretPlace.parse(place), place);
        }
        assertThrows(IllegalArgumentException.class, () -> SecretPlace.parse("cookie:key"));
        assertEquals(new SecretPlace.Body(JsonPointer.compile("/a~1b/0")), SecretPlace.parse("body:/a~1b/0"));
        assertEquals(new SecretPlace.Path(), SecretPlace.parse("path"));
        assertEquals(new SecretPlace.Header("x-api-key"), SecretPlace.parse("header:X-Api-Key"));
        assertEquals(new SecretPlace.Query("Key"), SecretPlace.parse("query:Key"));
    }
}
