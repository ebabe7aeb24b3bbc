package blackbox.recorder.net;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/// What TLS clients have sent of their ClientHello, until it is whole and the server name in it is known. All
/// together hold at most [#BYTES_MAX] octets: beyond that, the ones that began first are given up, and their flows
/// say that their server name was not read. Owned by one thread.
final class ClientHellos {

    static final int BYTES_MAX = 4 << 20;

    /// In the order in which they began.
    private final Map<Flow, byte[]> held = new LinkedHashMap<>();
    private int bytes;

    /// Takes what a flow's client sent next.
    void add(Flow flow, byte[] payload) {
        byte[] hello = held.getOrDefault(flow, new byte[0]);
        int before = hello.length;
        int room = Math.min(payload.length, TlsServerName.HELLO_BYTES_MAX - before);
        hello = Arrays.copyOf(hello, before + room);
        System.arraycopy(payload, 0, hello, before, room);
        held.put(flow, hello);
        bytes += room;
        if (!TlsServerName.wantsMore(hello, hello.length)) {
            end(flow, hello);
        }
        while (bytes > BYTES_MAX) {
            var first = held.entrySet().iterator().next();
            end(first.getKey(), first.getValue());
        }
    }

    /// Looks for the server name in what is there, whole or not.
    private void end(Flow flow, byte[] hello) {
        forget(flow);
        flow.named(TlsServerName.find(hello, hello.length), TlsServerName.isDecided(hello, hello.length));
    }

    /// Drops what is held of a flow.
    void forget(Flow flow) {
        byte[] hello = held.remove(flow);
        bytes -= hello == null ? 0 : hello.length;
    }

    /// How many octets are held.
    int bytes() {
        return bytes;
    }
}
