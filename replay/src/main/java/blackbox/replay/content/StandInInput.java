package blackbox.replay.content;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/// Octets in which a text stands wherever another one was. Reads ahead of what it gives. Owned by one thread.
public final class StandInInput extends InputStream {
    private static final int BLOCK_BYTES = 64 << 10;

    private final InputStream in;
    private final byte[] text;
    private final byte[] standIn;
    private byte[] block = new byte[0];
    private int at;
    /// Up to where there is nothing to replace any more.
    private int ready;

    private boolean ended;
    private long replaced;

    /// @param text at least one octet
    public StandInInput(InputStream in, byte[] text, byte[] standIn) {
        if (text.length == 0) {
            throw new IllegalArgumentException("nothing is everywhere");
        }
        this.in = in;
        this.text = text.clone();
        this.standIn = standIn.clone();
    }

    /// How often it stood so far.
    public long replaced() {
        return replaced;
    }

    @Override
    public int read() throws IOException {
        var one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        if (length == 0) {
            return 0;
        }
        while (at == ready) {
            if (ended && at == block.length) {
                return -1;
            }
            fill();
        }
        int count = Math.min(length, ready - at);
        System.arraycopy(block, at, into, offset, count);
        at += count;
        return count;
    }

    /// Makes some octets ready: those before the next place, that place, or all that can be no part of one.
    private void fill() throws IOException {
        if (!ended && block.length - at < text.length) {
            byte[] more = in.readNBytes(BLOCK_BYTES);
            ended = more.length < BLOCK_BYTES;
            byte[] all = Arrays.copyOfRange(block, at, block.length + more.length);
            System.arraycopy(more, 0, all, block.length - at, more.length);
            block = all;
            at = 0;
            ready = 0;
        }
        int found = find();
        if (found == at) {
            byte[] rest = Arrays.copyOfRange(block, at + text.length, block.length);
            block = Arrays.copyOf(standIn, standIn.length + rest.length);
            System.arraycopy(rest, 0, block, standIn.length, rest.length);
            at = 0;
            ready = standIn.length;
            replaced++;
        } else if (found > at) {
            ready = found;
        } else {
            ready = ended ? block.length : Math.max(at, block.length - text.length + 1);
        }
    }

    private int find() {
        for (int from = at; from + text.length <= block.length; from++) {
            if (block[from] == text[0] && Arrays.equals(block, from, from + text.length, text, 0, text.length)) {
                return from;
            }
        }
        return -1;
    }
}
