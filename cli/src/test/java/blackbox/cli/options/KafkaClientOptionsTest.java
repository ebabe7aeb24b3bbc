package blackbox.cli.options;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.cli.exit.CommandException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class KafkaClientOptionsTest {

    private static String checked(String text) {
        return KafkaClientOptions.checked(text);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"a:1", "broker-1.example:9092,broker_2:65535", "127.0.0.1:9092,[::1]:9092", "[fe80::1%eth0]:1"})
    void addressesAreTakenAsTheyAre(String text) {
        assertEquals(text, checked(text));
    }

    @Test
    void blanksAroundCommasAreLeftOut() {
        assertEquals("a:1,b:2,c:3", checked(" a:1, b:2 ,c:3 "));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''|''",
                "broker|'broker'",
                "a:1,b|'b'",
                "a:1,,c:3|''",
                "a:1,|''",
                "a:1;b:2|'a:1;b:2'",
                "a:x|'a:x'",
                "a:1,:2|':2'",
                "::1:9092|'::1:9092'",
                "a:1,b:0|port 0",
                "a:1,b:65536|port 65536",
                "a:999999|'a:999999'"
            },
            quoteCharacter = '"')
    void theWrongOneIsNamed(String text, String named) {
        CommandException refusal = assertThrows(CommandException.class, () -> checked(text.equals("''") ? "" : text));
        assertTrue(String.valueOf(refusal.getMessage()).contains(named), refusal::getMessage);
    }
}
