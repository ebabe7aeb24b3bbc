package blackbox.calls.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Streams as WHATWG HTML, 9.2.6, divides them.
class ServerSentEventsTest {
    /// The events, each as `type|data|offset`, however the stream is divided.
    private static List<String> events(String stream) {
        byte[] octets = stream.getBytes(StandardCharsets.UTF_8);
        List<String> expected = events(octets, octets.length);
        for (int piece = 1; piece < octets.length; piece++) {
            assertEquals(expected, events(octets, piece), "in pieces of " + piece);
        }
        return expected;
    }

    private static List<String> events(byte[] octets, int piece) {
        List<String> events = new ArrayList<>();
        var data = new StringBuilder();
        var parser = new ServerSentEvents(new ServerSentEvents.Sink() {
            @Override
            public void data(byte[] some, int from, int to) {
                data.append(new String(some, from, to - from, StandardCharsets.ISO_8859_1));
            }

            @Override
            public void event(String type, long endOffset) {
                events.add(type + "|" + data + "|" + endOffset);
                data.setLength(0);
            }
        });
        for (int at = 0; at < octets.length; at += piece) {
            parser.feed(octets, at, Math.min(octets.length, at + piece));
        }
        return events;
    }

    @Test
    void fieldsAndLines() {
        assertEquals(List.of("|YHOO\n+2\n10|29"), events("data: YHOO\ndata: +2\ndata: 10\n\n".replace(": +", ":+")));
        assertEquals(
                List.of("add|73|21", "remove|1|43"), events("event: add\ndata: 73\n\nevent:remove\ndata: 1\n\n\n"));
        assertEquals(List.of("|first|20", "| second|41"), events(": test\ndata: first\n\ndata:  second\nid: 3\n\n\n"));
    }

    @Test
    void dataMayBeEmptyAndNeedsNoColon() {
        assertEquals(List.of("||6", "|\n|17"), events("data\n\ndata\ndata\n\ndata:"));
        assertEquals(List.of("|test|11", "|test|23"), events("data:test\n\ndata: test\n\n"));
    }

    @Test
    void anEventWithoutDataOrEndIsNone() {
        assertEquals(List.of("|1|19"), events("event: x\n\ndata: 1\n\ndata: 2\n"));
        assertEquals(List.of(), events("datas: 1\n\nDATA: 1\n\n data: 1\n\na-name-of-more-than-16: 1\n\n"));
    }

    @Test
    void lineEndsMayBeMixed() {
        assertEquals(List.of("|1|9", "|2|18", "|3|28"), events("data: 1\r\rdata: 2\n\ndata: 3\r\n\r\n"));
    }

    @Test
    void aByteOrderMarkIsLeftOffOnceAtTheBeginning() {
        assertEquals(List.of("|1|12"), events("\ufeffdata: 1\n\n"));
        assertEquals(List.of(), events("\ufeff\ufeffdata: 1\n\n"));
    }
}
