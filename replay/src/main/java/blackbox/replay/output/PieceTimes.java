package blackbox.replay.output;

import blackbox.replay.content.Window;
import blackbox.replay.content.WrittenWhen;
import java.util.ArrayDeque;

/// When the octets of a stream were printed, as far as they may still be asked for: at most one entry for each of
/// the last [WrittenWhen#BEHIND_MAX] octets. Owned by one thread.
///
/// A program may keep what it prints until its buffer is full or it ends: an octet was written after the piece
/// before it was received, and before its own piece was.
final class PieceTimes implements WrittenWhen {

    /// How far before the last octet that was asked for another one may be: the next value may begin within one that
    /// stood for nothing.
    private static final int BACK_MAX = 1 << 12;

    /// Octets up to `end`, exclusive, that were printed within one window.
    private record Stretch(long end, Window window) {}

    private final ArrayDeque<Stretch> kept = new ArrayDeque<>();
    private long beganNs;
    private long end;
    private long forgotten;

    /// @param beganNs when the first octet may have been written at the earliest; if that is after its piece was
    ///     received, it was written when that was
    PieceTimes(long beganNs) {
        this.beganNs = beganNs;
    }

    /// Takes the next piece.
    void add(int bytes, long atNs) {
        end += bytes;
        var window = new Window(Math.min(beganNs, atNs), atNs);
        Stretch last = kept.peekLast();
        if (last != null && last.window.equals(window)) {
            kept.removeLast();
        }
        kept.addLast(new Stretch(end, window));
        beganNs = atNs;
        forgetUpTo(end - bytes - BEHIND_MAX);
    }

    @Override
    public Window at(long octet) {
        if (octet < forgotten || octet >= end) {
            throw new IllegalArgumentException("octet " + octet + " was not asked for in turn: those from " + forgotten
                    + " to " + end + " are known");
        }
        forgetUpTo(octet - BACK_MAX);
        for (Stretch each : kept) {
            if (each.end > octet) {
                return each.window;
            }
        }
        throw new IllegalStateException("octet " + octet + " is in no stretch");
    }

    /// Forgets stretches that end there or before.
    private void forgetUpTo(long octet) {
        for (Stretch first = kept.peekFirst(); first != null && first.end <= octet; first = kept.peekFirst()) {
            forgotten = first.end;
            kept.removeFirst();
        }
    }
}
