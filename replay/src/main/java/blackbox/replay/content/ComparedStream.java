package blackbox.replay.content;

import blackbox.replay.request.Difference;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// One of two streams that are compared: the octets around the place that the comparison has come to.
final class ComparedStream {

    private static final int CHUNK_BYTES = 1 << 16;

    /// Octets before the place that stay here: the longest time, and what is shown or looked at before it.
    private static final int BEHIND = 128;

    /// Octets after the place that are here unless the stream ends before: the longest time, and what is shown.
    private static final int AHEAD = 256;

    private final InputStream in;
    private final byte[] buffer = new byte[BEHIND + CHUNK_BYTES + AHEAD];
    /// Of the buffer's first octet, in the stream.
    private long start;
    /// The place, in the buffer.
    private int at;
    /// Of what was read, in the buffer.
    private int end;
    private boolean ended;
    /// After the last time that stood for another one, in the stream.
    private long tied;

    ComparedStream(InputStream in) {
        this.in = in;
    }

    /// Reads on if not much is left after the place.
    void fill() throws IOException {
        if (ended || end - at >= AHEAD) {
            return;
        }
        int from = Math.max(0, at - BEHIND);
        System.arraycopy(buffer, from, buffer, 0, end - from);
        start += from;
        at -= from;
        end -= from;
        end += in.readNBytes(buffer, end, buffer.length - end);
        ended = end < buffer.length;
    }

    /// Moves both to the first octets that differ, or as far as either was read.
    void skipEqual(ComparedStream other) {
        int equal = Arrays.mismatch(buffer, at, end, other.buffer, other.at, other.end);
        int count = equal < 0 ? end - at : equal;
        at += count;
        other.at += count;
    }

    /// Whether nothing is left of what was read, but the stream may go on.
    boolean wantsMore() {
        return at == end && !ended;
    }

    boolean isOver() {
        return at == end && ended;
    }

    /// In the stream.
    long place() {
        return start + at;
    }

    /// How far before the place a time may begin that goes across it. Both sides have the same octets there, so it
    /// is the same for both.
    int backMax() {
        return (int) Math.min(PrintedTime.OCTETS_MAX - 1, place() - tied);
    }

    /// The longest time that begins so many octets before the place, or null.
    @Nullable
    PrintedTime timeBefore(int back, boolean inName) {
        int from = at - back;
        return inName ? PrintedTime.inName(buffer, from, end) : PrintedTime.at(buffer, from, end);
    }

    /// The duration that begins so many octets before the place, or null.
    @Nullable
    PrintedDuration durationBefore(int back) {
        return PrintedDuration.at(buffer, at - back, end);
    }

    /// Whether a time lies in the window in which it was written.
    boolean wrote(PrintedTime time, int back, WrittenWhen written) {
        return time.isIn(written(time.length(), back, written));
    }

    /// When so many octets from `back` before the place on were written.
    Window written(int length, int back, WrittenWhen written) {
        long from = place() - back;
        Window window = written.at(from);
        return window.with(written.at(from + length - 1));
    }

    /// How many digits are right before the place.
    int digitsBack() {
        int back = 0;
        int most = (int) Math.min(LoneNumber.DIGITS_MAX + 1, place() - tied);
        while (back < most && at - back > 0 && PrintedTime.isDigit(buffer[at - back - 1])) {
            back++;
        }
        return back;
    }

    /// The number that begins so many octets before the place, or null.
    @Nullable
    LoneNumber numberFrom(int back) {
        return LoneNumber.at(buffer, at - back, end);
    }

    /// How far before the place the word begins that goes on to it; -1 if it may begin before what is here.
    int wordBack() {
        int back = 0;
        int most = (int) Math.min(BEHIND, place() - tied);
        while (back < most && at - back > 0 && isOfWord(buffer[at - back - 1])) {
            back++;
        }
        return back == BEHIND ? -1 : back;
    }

    /// Length of the word that begins so many octets before the place, without full stops at its end; -1 if it may go
    /// on beyond what is here.
    int wordLength(int back) {
        int to = at;
        while (to < end && isOfWord(buffer[to])) {
            to++;
        }
        if (to == end && !ended) {
            return -1;
        }
        while (to > at && buffer[to - 1] == '.') {
            to--;
        }
        return to - (at - back);
    }

    /// Letters, digits and what else programs put into names that they make up.
    private static boolean isOfWord(byte octet) {
        return octet >= 'a' && octet <= 'z'
                || octet >= 'A' && octet <= 'Z'
                || octet >= '0' && octet <= '9'
                || octet == '_'
                || octet == '-'
                || octet == '.';
    }

    /// So many octets from `back` before the place on.
    String letters(int length, int back) {
        return new String(buffer, at - back, length, StandardCharsets.ISO_8859_1);
    }

    /// What is right before that place, so many octets at most, as far as it is here.
    String before(int back, int most) {
        int length = Math.min(most, at - back);
        return letters(length, back + length);
    }

    void moveAfter(int length, int back) {
        at += length - back;
        tied = place();
    }

    /// That the two differ here.
    ContentDifference difference(ComparedStream other) {
        int before = (int) Math.min(Difference.BEFORE_MAX, Math.min(place(), other.place()));
        var octets = new Difference(place(), place() - before, around(before), other.around(before));
        return new ContentDifference(place(), other.place(), octets);
    }

    private String around(int before) {
        int from = at - before;
        int to = Math.min(end, from + Difference.SHOWN_MAX);
        return new String(buffer, from, to - from, StandardCharsets.ISO_8859_1);
    }
}
