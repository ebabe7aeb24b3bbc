package blackbox.replay.cassette;

import blackbox.gateway.packet.TcpSegment;
import org.jspecify.annotations.Nullable;

/// Follows the segments of one captured connection and fills its [RecordedConnection].
final class ConnectionTape {
    private final RecordedConnection connection;
    private final int guestFirst;
    private final StreamAssembler request;
    private @Nullable StreamAssembler response;
    private long frame;

    /// @param syn the guest's
    ConnectionTape(RecordedConnection connection, TcpSegment syn) {
        this.connection = connection;
        this.guestFirst = syn.sequence() + 1;
        this.request = new StreamAssembler(
                guestFirst, (offset, count, _) -> connection.request().append(offset, count, frame));
    }

    RecordedConnection connection() {
        return connection;
    }

    /// Whether this SYN is the one that opened it, sent again.
    boolean isOpenedBy(TcpSegment syn) {
        return syn.sequence() + 1 == guestFirst;
    }

    /// Whether octets of it are missing in the capture.
    boolean incomplete() {
        return request.incomplete() || response != null && response.incomplete();
    }

    /// Takes a segment from the guest, whose payload is at `offset` in the capture.
    ///
    /// @param number of the frame, among those of both directions
    void fromGuest(TcpSegment segment, long offset, long number) {
        frame = number;
        if (!segment.is(TcpSegment.SYN)) {
            request.add(segment.sequence(), offset, segment.payload().length, 0);
        }
        if (segment.is(TcpSegment.FIN)) {
            connection.leave(number);
        }
    }

    /// Takes a segment from the other side, whose payload is at `offset` in the capture.
    ///
    /// @param number of the frame, among those of both directions
    void toGuest(TcpSegment segment, long offset, long number) {
        frame = number;
        if (segment.is(TcpSegment.SYN)) {
            accepted(segment);
            return;
        }
        long needs =
                segment.is(TcpSegment.ACK) ? Math.max(0, request.place(segment.acknowledgement())) : request.next();
        StreamAssembler answers = response;
        if (answers == null) {
            if (segment.is(TcpSegment.RST) && connection.opening == RecordedConnection.Opening.UNANSWERED) {
                connection.opening = RecordedConnection.Opening.REFUSED;
            }
            return;
        }
        answers.add(segment.sequence(), offset, segment.payload().length, needs);
        if (segment.is(TcpSegment.RST)) {
            connection.end(RecordedConnection.End.RST, needs, number);
        } else if (segment.is(TcpSegment.FIN)) {
            connection.end(RecordedConnection.End.FIN, needs, number);
        }
    }

    /// Notes that the other side was reported unreachable.
    void unreachable(int typeAndCode) {
        if (connection.opening == RecordedConnection.Opening.UNANSWERED) {
            connection.opening = RecordedConnection.Opening.UNREACHABLE;
            connection.unreachable = typeAndCode;
        }
    }

    private void accepted(TcpSegment synAck) {
        if (response == null && synAck.acknowledgement() == guestFirst) {
            connection.opening = RecordedConnection.Opening.ACCEPTED;
            response = new StreamAssembler(synAck.sequence() + 1, (offset, count, needs) -> {
                connection.response().append(offset, count, frame);
                connection.turn(needs);
            });
        }
    }
}
