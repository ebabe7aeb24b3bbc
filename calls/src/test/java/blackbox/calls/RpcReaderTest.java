package blackbox.calls;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.calls.rpc.RpcException;
import blackbox.calls.rpc.RpcMessage;
import blackbox.calls.rpc.RpcReader;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What two servers could read in two ways is refused, and everything else says what it calls.
class RpcReaderTest {
    private static List<RpcMessage> read(String text) throws RpcException {
        return RpcReader.read(text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void whatIsCalled() throws Exception {
        assertEquals(List.of(new RpcMessage("7", "tools/call", "search")), read("""
                        {"jsonrpc":"2.0","id":7,"method":"tools/call",
                         "params":{"arguments":{"name":"other","method":["x"]},"name":"search","_meta":{"a":[1,{}]}}}
                        """));
        assertEquals(List.of(new RpcMessage(null, "notifications/initialized", null)), read("""
                {"method":"notifications/initialized","jsonrpc":"2.0"}"""));
        assertEquals(List.of(new RpcMessage("\"a\\\"b\"", "ping", null)), read("""
                {"jsonrpc":"2.0","id":"a\\"b","method":"pi\\u006eg","params":[1,"name"]}"""));
        assertEquals(List.of(new RpcMessage("1", null, null)), read("""
                {"jsonrpc":"2.0","id":1,"result":{"method":"tools/call","name":"x"}}"""));
        assertEquals(List.of(new RpcMessage("1", "a", null), new RpcMessage("1.50", null, null)), read("""
                        [{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","id":1.50,"error":{}}]"""));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '~',
            quoteCharacter = '`',
            value = {
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"method\":\"tools/call\"}~Duplicate field",
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"meth\\u006fd\":\"tools/call\"}~Duplicate field",
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"Method\":\"tools/call\"}~called Method",
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"param\u017f\":{}}~called param",
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"a\",\"NAME\":\"b\"}}~called NAME",
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"a\",\"name\":\"b\"}}~Duplicate",
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"x\":{\"y\":1,\"y\":2}}}~Duplicate",
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}{\"jsonrpc\":\"2.0\"}~something follows",
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"} x~not JSON",
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",}~not JSON",
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"~not JSON",
                "{\"jsonrpc\":\"2.0\",\"id\":1,'method':\"ping\"}~not JSON",
                "{\"jsonrpc\":\"2.0\",\"id\":1,/* */\"method\":\"ping\"}~not JSON",
                "{\"jsonrpc\":\"2.0\",\"id\":NaN,\"method\":\"ping\"}~not JSON",
                "{\"jsonrpc\":\"2.0\",\"id\":01,\"method\":\"ping\"}~not JSON",
                "{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"ping\"}~the id",
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":[\"ping\"]}~the method",
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pi\\ud800ng\"}~half a surrogate",
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"x\":\"\\udc00\"}~half a surrogate",
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"result\":1}~both a request and an answer",
                "{\"jsonrpc\":\"2.0\",\"id\":1}~neither a request",
                "{\"id\":1,\"method\":\"ping\"}~not of JSON-RPC",
                "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}~not of JSON-RPC",
                "{\"jsonrpc\":2.0,\"id\":1,\"method\":\"ping\"}~the version",
                "{\"jsonrpc\":[\"2.0\",{\"a\":1}],\"id\":1,\"method\":\"ping\"}~the version",
                "{\"jsonrpc\":{\"jsonrpc\":\"2.0\",\"method\":\"ping\"},\"method\":\"tools/call\"}~the version",
                "[]~neither a message",
                "[[{\"jsonrpc\":\"2.0\",\"method\":\"ping\"}]]~something else than messages",
                "[{\"jsonrpc\":\"2.0\",\"method\":\"ping\"},1]~something else than messages",
                "\"ping\"~neither a message",
                "\ufeff{\"jsonrpc\":\"2.0\",\"method\":\"ping\"}~not JSON",
            })
    void whatIsRefused(String body, String why) {
        var refused = assertThrows(RpcException.class, () -> read(body));
        assertTrue(refused.why().contains(why), refused::why);
    }

    @Test
    void otherEncodingsAreRefused() {
        String message = "{\"jsonrpc\":\"2.0\",\"method\":\"ping\"}";
        for (var charset : List.of(StandardCharsets.UTF_16, StandardCharsets.UTF_16LE, StandardCharsets.UTF_32BE)) {
            assertThrows(RpcException.class, () -> RpcReader.read(message.getBytes(charset)), charset::toString);
        }
        assertThrows(RpcException.class, () -> RpcReader.read(new byte[] {'"', (byte) 0xc0, (byte) 0xaf, '"'}));
        assertThrows(RpcException.class, () -> RpcReader.read(new byte[0]));
    }

    @Test
    void depthAndNumbersHaveBounds() throws Exception {
        String deep = "{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"params\":" + "[".repeat(70) + "]".repeat(70) + "}";
        assertThrows(RpcException.class, () -> read(deep));
        String one = "{\"jsonrpc\":\"2.0\",\"method\":\"ping\"}";
        assertEquals(
                RpcReader.BATCH_MAX,
                read("[" + String.join(",", Collections.nCopies(RpcReader.BATCH_MAX, one)) + "]")
                        .size());
        assertThrows(
                RpcException.class,
                () -> read("[" + String.join(",", Collections.nCopies(RpcReader.BATCH_MAX + 1, one)) + "]"));
        assertThrows(RpcException.class, () -> read("{\"jsonrpc\":\"2.0\",\"id\":" + "1".repeat(400) + "}"));
    }
}
