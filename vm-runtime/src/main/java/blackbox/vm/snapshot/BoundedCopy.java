package blackbox.vm.snapshot;

import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import org.jspecify.annotations.Nullable;

/// Copies a stream to its end on its own thread. A stream that is too long is still read to its end, but the copy
/// fails.
final class BoundedCopy implements Runnable {
    private final InputStream from;
    private final OutputStream to;
    private final long bytesMax;
    private volatile @Nullable String failure;

    BoundedCopy(InputStream from, OutputStream to, long bytesMax) {
        this.from = from;
        this.to = to;
        this.bytesMax = bytesMax;
    }

    @Override
    public void run() {
        var chunk = new byte[64 << 10];
        long copied = 0;
        try {
            for (int n = from.read(chunk); n >= 0; n = from.read(chunk)) {
                copied += n;
                if (copied <= bytesMax) {
                    to.write(chunk, 0, n);
                } else {
                    failure = "the guest sent more than " + bytesMax + " bytes of events before it was ready";
                }
            }
        } catch (IOException e) {
            failure = "the guest's first events could not be stored: " + e.getMessage();
        }
    }

    /// Must be called after the thread has ended.
    void check() throws VmException {
        String why = failure;
        if (why != null) {
            throw new VmException(Code.BOOT_FAILED, why);
        }
    }
}
