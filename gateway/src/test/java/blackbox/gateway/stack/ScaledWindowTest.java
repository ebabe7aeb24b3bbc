package blackbox.gateway.stack;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.gateway.egress.FlowEnd.How;
import blackbox.gateway.packet.SynOptions;
import blackbox.schemas.net.IpHeader;
import blackbox.schemas.net.TcpHeader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/// How much is sent to a guest that does not acknowledge it.
class ScaledWindowTest {
    private static final int FIRST = 1_000;
    private static final int GUEST_FIRST = 77;
    private static final int MSS = 1_460;
    private static final int TCP_AT = IpHeader.ETHERNET_BYTES + 20;

    private final List<Long> sent = new ArrayList<>();
    private int answers;

    private final TcpConnection.Wire wire = new TcpConnection.Wire() {
        @Override
        public boolean isReady() {
            return true;
        }

        @Override
        public void send(int sequence, int ack, int flags, int window, int mss, long position, int length) {
            if (length > 0) {
                sent.add(position + length);
            } else {
                answers++;
            }
        }

        @Override
        public void acknowledgeSoon() {}
    };

    private static final TcpConnection.User NOBODY = new TcpConnection.User() {
        @Override
        public int room() {
            return TcpConnection.WINDOW;
        }

        @Override
        public void received(byte[] octets, int from, int length) {}

        @Override
        public void receivedAll() {}

        @Override
        public boolean hasReadAll() {
            return true;
        }

        @Override
        public void acknowledged(int octets) {}

        @Override
        public void opened() {}

        @Override
        public void ended(How how) {}
    };

    private static TcpHeader segment(int flags, int sequence, long acknowledged, int window) {
        return new TcpHeader(40_000, 443, sequence, FIRST + (int) acknowledged, flags, window, 0, true);
    }

    private TcpConnection opened(int shift, int window) {
        var connection = new TcpConnection(
                segment(TcpHeader.SYN, GUEST_FIRST, 0, 65_535),
                new SynOptions(MSS, shift),
                FIRST,
                wire,
                NOBODY,
                new TcpConnection.Limits(1, 1, 1));
        connection.open(0);
        connection.take(segment(TcpHeader.ACK, GUEST_FIRST + 1, 0, window), new byte[0], 0, 0);
        connection.write(10 << 20, 0);
        return connection;
    }

    private static long whole(int window) {
        return (long) window / MSS * MSS;
    }

    @Test
    void asMuchIsInFlightAsTheScaledWindowSays() {
        TcpConnection connection = opened(7, 2_048);
        long first = whole(2_048 << 7);
        assertEquals(first, sent.getLast());
        connection.take(segment(TcpHeader.ACK, GUEST_FIRST + 1, first, 1_024), new byte[0], 0, 0);
        assertEquals(first + whole(1_024 << 7), sent.getLast());
        // One that was on its way may be as old as the largest window, and is not asked about.
        int before = answers;
        connection.take(segment(TcpHeader.ACK, GUEST_FIRST + 1, 1_460, 2_048), new byte[0], 0, 0);
        assertEquals(before, answers);
        connection.take(segment(TcpHeader.ACK, GUEST_FIRST + 1, -1_000, 2_048), new byte[0], 0, 0);
        assertEquals(before + 1, answers);
    }

    /// However many a guest opens that takes nothing, all together stay near what they may hold.
    @Test
    void theMoreThereAreTheLessEachHasInFlight() {
        var budget = new BufferBudget(64 << 20);
        assertEquals(256 << 10, budget.inFlightMax(1));
        assertEquals(256 << 10, budget.inFlightMax(64));
        assertEquals(64 << 10, budget.inFlightMax(16_384));
        long beyond = 0;
        for (int open = 1; open <= 16_384; open++) {
            beyond += budget.inFlightMax(open) - (64 << 10);
        }
        assertTrue(beyond < 32 << 20, "beyond 64 KiB each: " + beyond);
        assertEquals(64 << 10, new BufferBudget(1 << 20).inFlightMax(4));
    }

    @Test
    void withoutTheOptionItIsTheWindowItself() {
        opened(SynOptions.UNSCALED, 2 * MSS);
        assertEquals(2 * MSS, sent.getLast());
    }

    @Test
    void theAnswerOffersScalingToThoseWhoOfferedIt() {
        for (boolean scales : new boolean[] {true, false}) {
            var frame = new TcpFrame(StackSettings.DEFAULT);
            var frames = new ArrayList<byte[]>();
            FrameSink sink = new FrameSink() {
                @Override
                public void send(byte[] octets, int count) {
                    frames.add(Arrays.copyOf(octets, count));
                }

                @Override
                public boolean isReady() {
                    return true;
                }

                @Override
                public void flush() {}
            };
            frame.send(TcpHeader.SYN | TcpHeader.ACK, 1_460, scales, 0, sink);
            frame.send(TcpHeader.ACK, 0, scales, 0, sink);
            byte[] answer = frames.getFirst();
            TcpHeader header = TcpHeader.of(answer, TCP_AT, answer.length);
            assertTrue(header != null && header.isWellFormed());
            assertEquals(
                    new SynOptions(1_460, scales ? 0 : SynOptions.UNSCALED),
                    SynOptions.of(answer, TCP_AT, answer.length));
            assertEquals(TCP_AT + 20, frames.getLast().length);
        }
    }
}
