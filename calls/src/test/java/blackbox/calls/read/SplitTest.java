package blackbox.calls.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import blackbox.calls.Call;
import blackbox.calls.McpCall;
import blackbox.calls.ModelCall;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// That the result does not depend on how the octets are divided, nor on how they are compressed.
class SplitTest {
    static Stream<String> names() {
        return Exchange.NAMES.stream();
    }

    @Test
    void allExchangesAreTried() throws Exception {
        Path folder = Path.of(SplitTest.class
                        .getResource("/blackbox/calls/exchanges/mcp-json.http")
                        .toURI())
                .getParent();
        try (Stream<Path> files = Files.list(folder)) {
            assertEquals(
                    Exchange.NAMES.stream().map(name -> name + ".http").collect(Collectors.toSet()),
                    files.map(file -> file.getFileName().toString()).collect(Collectors.toSet()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @ParameterizedTest
    @MethodSource("names")
    void everyDivisionGivesTheSame(String name) {
        Exchange exchange = Exchange.named(name);
        List<Call> expected = exchange.read();
        assertFalse(expected.isEmpty());
        assertEquals(expected, exchange.read(1));
        assertEquals(expected, exchange.read(3));
        int length = Math.max(exchange.request().length, exchange.response().length);
        for (int cut = 0; cut <= length; cut++) {
            int at = cut;
            assertEquals(
                    expected,
                    exchange.readCutAt(
                            Math.min(cut, exchange.request().length), Math.min(cut, exchange.response().length)),
                    () -> "cut at " + at);
        }
    }

    @ParameterizedTest
    @MethodSource("names")
    void compressedItIsTheSame(String name) {
        Exchange exchange = Exchange.named(name);
        List<Call> expected = exchange.read();
        for (String coding : List.of("gzip", "zstd")) {
            Exchange encoded = exchange.encoded(coding);
            assertEquals(expected, encoded.read(), coding);
            assertEquals(expected, encoded.read(1), coding);
            assertEquals(expected, encoded.read(7), coding);
        }
    }

    /// A response that breaks off is said to be incomplete wherever it does, and still gives what came before.
    @ParameterizedTest
    @MethodSource("names")
    void aResponseThatBreaksOffIsNotComplete(String name) {
        Exchange exchange = Exchange.named(name);
        List<Call> whole = exchange.read();
        boolean completeBefore = false;
        for (int length = 0; length < exchange.response().length; length++) {
            List<Call> calls = exchange.withResponse(Arrays.copyOf(exchange.response(), length))
                    .read();
            assertEquals(whole.size(), calls.size());
            boolean complete = switch (calls.getFirst()) {
                case ModelCall call -> call.response().complete();
                case McpCall call -> call.answer() != null;
            };
            assertEquals(complete || completeBefore, complete, "complete once, at octet " + length);
            completeBefore = complete;
            if (length < exchange.response().length / 2) {
                assertFalse(complete, "complete at octet " + length);
            }
        }
    }
}
