package blackbox.node.serve;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;

/// Limits how many expensive requests of one kind run at a time; any more are turned away, not queued.
final class RequestLimiter {

    private final Semaphore free;
    private final String what;

    RequestLimiter(int max, String what) {
        this.free = new Semaphore(max);
        this.what = what;
    }

    /// A slot, held until it is closed.
    final class Slot implements AutoCloseable {

        private final AtomicBoolean held = new AtomicBoolean(true);

        @Override
        public void close() {
            if (held.getAndSet(false)) {
                free.release();
            }
        }

        /// `in`, which gives the slot back when it is closed.
        InputStream over(InputStream in) {
            return new FilterInputStream(in) {
                @Override
                public void close() throws IOException {
                    Slot.this.close();
                    super.close();
                }
            };
        }
    }

    /// Takes a slot.
    ///
    /// @throws BusyException when none is free
    Slot take() {
        if (!free.tryAcquire()) {
            throw new BusyException("too many " + what + " at once; try again in a moment");
        }
        return new Slot();
    }

    /// `in`, holding a slot until it is closed.
    InputStream hold(InputStream in) {
        return take().over(in);
    }
}
