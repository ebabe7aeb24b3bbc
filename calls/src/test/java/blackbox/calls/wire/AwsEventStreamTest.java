package blackbox.calls.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Messages that other implementations have made.
class AwsEventStreamTest {
    /// From the tests of awslabs/aws-c-event-stream and its ports.
    private static final String JSON = "0000003d0000002007fd83960c636f6e74656e742d747970650700106170706c69636174696f"
            + "6e2f6a736f6e7b27666f6f273a27626172277d8d9c08b1";

    private final List<String> messages = new ArrayList<>();
    private final AwsEventStream stream = new AwsEventStream((headers, payload, end) ->
            messages.add(headers + " " + StandardCharsets.UTF_8.decode(payload) + " " + end));

    private void feed(String hex) {
        byte[] octets = HexFormat.of().parseHex(hex);
        stream.feed(octets, 0, octets.length);
    }

    @Test
    void aMessageWithAHeader() {
        feed(JSON + JSON);
        assertNull(stream.failure());
        assertFalse(stream.inMessage());
        assertEquals(
                List.of(
                        "{content-type=application/json} {'foo':'bar'} 61",
                        "{content-type=application/json} {'foo':'bar'} 122"),
                messages);
    }

    @Test
    void anEmptyMessage() {
        feed("000000100000000005c248eb7d98c8ff");
        assertEquals(List.of("{}  16"), messages);
    }

    @Test
    void aChangedOctetIsFound() {
        feed(JSON.substring(0, 100) + "8" + JSON.substring(101));
        assertEquals("the checksum of a message is wrong", stream.failure());
        feed(JSON);
        assertEquals(List.of(), messages);
    }
}
