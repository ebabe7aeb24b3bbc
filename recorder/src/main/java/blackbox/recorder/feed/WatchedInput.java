package blackbox.recorder.feed;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/// A stream of which others can see whether its reader has read all that there is. One thread reads.
final class WatchedInput extends FilterInputStream {

    /// Whatever passes the octets on looks for new ones several times in this time.
    private static final long QUIET_NS = 40_000_000;

    private static final long LOOK_EVERY_MS = 5;

    /// Since when the reader waits; 0 while it does not.
    private volatile long waitingSince;

    private volatile boolean ended;

    WatchedInput(InputStream in) {
        super(in);
    }

    @Override
    public int read() throws IOException {
        var one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] octets, int offset, int length) throws IOException {
        waitingSince = Math.max(1, System.nanoTime());
        try {
            int count = in.read(octets, offset, length);
            ended |= count < 0;
            return count;
        } catch (IOException e) {
            ended = true;
            throw e;
        } finally {
            waitingSince = 0;
        }
    }

    /// Waits until the reader has waited for a moment, from now on, or the stream has ended.
    ///
    /// @return false if that was not so within `most`
    boolean awaitQuiet(Duration most) throws InterruptedException {
        long from = System.nanoTime();
        while (System.nanoTime() - from < most.toNanos()) {
            long since = waitingSince;
            if (ended || since != 0 && System.nanoTime() - Math.max(since, from) > QUIET_NS) {
                return true;
            }
            TimeUnit.MILLISECONDS.sleep(LOOK_EVERY_MS);
        }
        return false;
    }
}
