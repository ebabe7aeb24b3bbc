package blackbox.calls.wire;

import java.nio.charset.StandardCharsets;

/// Divides a `text/event-stream` (WHATWG HTML, 9.2.6) into its events. Their data is passed on as it comes, so that an
/// event may be of any length.
public final class ServerSentEvents {
    private static final int NAME_BYTES_MAX = 16;
    private static final int TYPE_BYTES_MAX = 128;
    private static final byte[] BYTE_ORDER_MARK = {(byte) 0xef, (byte) 0xbb, (byte) 0xbf};
    private static final byte[] LINE_FEED = {'\n'};

    /// Takes the events.
    public interface Sink {
        /// More of the current event's data. Its lines are joined by line feeds.
        void data(byte[] octets, int from, int to);

        /// The current event, which has data, has ended.
        ///
        /// @param type from its `event` field, at most 128 octets; empty if there is none
        /// @param endOffset how many octets there were when it had ended
        void event(String type, long endOffset);
    }

    private enum At {
        NAME,
        SPACE,
        VALUE
    }

    private final Sink sink;
    private final byte[] name = new byte[NAME_BYTES_MAX];
    private final byte[] type = new byte[TYPE_BYTES_MAX];
    private At at = At.NAME;
    private int nameLength;
    private int typeLength;
    private int markSeen;
    private boolean afterReturn;
    private boolean hasData;
    private boolean isData;
    private boolean isType;
    private long offset;

    public ServerSentEvents(Sink sink) {
        this.sink = sink;
    }

    /// More of the stream. What is after the last empty line is no event.
    public void feed(byte[] octets, int from, int to) {
        int next = from;
        while (next < to) {
            if (markSeen < BYTE_ORDER_MARK.length) {
                if (octets[next] == BYTE_ORDER_MARK[markSeen]) {
                    markSeen++;
                    offset++;
                    next++;
                    continue;
                }
                int partOfMark = markSeen;
                markSeen = BYTE_ORDER_MARK.length;
                for (int i = 0; i < partOfMark; i++) {
                    name(BYTE_ORDER_MARK[i]);
                }
            }
            next = at == At.VALUE ? value(octets, next, to) : octet(octets[next], next);
        }
    }

    /// Whether an event has begun and not ended.
    public boolean inEvent() {
        return hasData || at != At.NAME || nameLength > 0;
    }

    private int octet(byte octet, int index) {
        offset++;
        boolean secondOfPair = afterReturn && octet == '\n';
        afterReturn = octet == '\r';
        if (secondOfPair) {
            return index + 1;
        }
        if (octet == '\r' || octet == '\n') {
            endLine();
        } else if (at == At.NAME) {
            name(octet);
        } else {
            at = At.VALUE;
            if (octet != ' ') {
                offset--;
                return index; // it is the first of the value
            }
        }
        return index + 1;
    }

    private void name(byte octet) {
        if (octet == ':') {
            field();
            at = At.SPACE;
        } else {
            if (nameLength < NAME_BYTES_MAX) {
                name[nameLength] = octet;
            }
            nameLength = Math.min(nameLength + 1, NAME_BYTES_MAX + 1);
        }
    }

    /// A line's name is known.
    private void field() {
        String field = nameLength > NAME_BYTES_MAX ? "" : new String(name, 0, nameLength, StandardCharsets.ISO_8859_1);
        isData = field.equals("data");
        isType = field.equals("event");
        if (isData) {
            if (hasData) {
                sink.data(LINE_FEED, 0, 1);
            }
            hasData = true;
        }
        if (isType) {
            typeLength = 0;
        }
    }

    private int value(byte[] octets, int from, int to) {
        int end = from;
        while (end < to && octets[end] != '\r' && octets[end] != '\n') {
            end++;
        }
        offset += end - from;
        if (isData && end > from) {
            sink.data(octets, from, end);
        } else if (isType) {
            int count = Math.min(end - from, TYPE_BYTES_MAX - typeLength);
            System.arraycopy(octets, from, type, typeLength, count);
            typeLength += count;
        }
        if (end == to) {
            return end;
        }
        offset++;
        afterReturn = octets[end] == '\r';
        endLine();
        return end + 1;
    }

    private void endLine() {
        boolean empty = at == At.NAME && nameLength == 0;
        if (at == At.NAME && !empty) {
            field();
        }
        at = At.NAME;
        nameLength = 0;
        isData = false;
        isType = false;
        if (empty) {
            if (hasData) {
                sink.event(new String(type, 0, typeLength, StandardCharsets.UTF_8), offset);
            }
            hasData = false;
            typeLength = 0;
        }
    }
}
