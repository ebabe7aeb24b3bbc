package blackbox.cli.output;

import blackbox.cli.exit.ExitCodes;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.Charset;
import org.jspecify.annotations.Nullable;

/// A standard output that remembers why something could not be written; a [PrintStream] does not say.
public final class StandardOutput extends OutputStream {
    private static final int BUFFER_BYTES = 8_192;
    /// The kernel's error when the reader has gone, as `head` has when it has read enough.
    private static final String READER_GONE = "Broken pipe";

    private final OutputStream out;
    private volatile @Nullable IOException failure;

    /// @param out where the octets go
    public StandardOutput(OutputStream out) {
        this.out = out;
    }

    /// A stream that writes here.
    public PrintStream stream(Charset charset) {
        return new PrintStream(new BufferedOutputStream(this, BUFFER_BYTES), true, charset);
    }

    @Override
    public void write(int octet) throws IOException {
        write(new byte[] {(byte) octet}, 0, 1);
    }

    @Override
    public void write(byte[] octets, int from, int length) throws IOException {
        try {
            out.write(octets, from, length);
        } catch (IOException e) {
            failure = e;
            throw e;
        }
    }

    /// The exit code of a command whose output went here: a command that succeeded counts as failed if its
    /// answer was cut off.
    ///
    /// @param code the command's own
    /// @param record whether that is the agent's exit code
    public int code(int code, boolean record, PrintStream err) {
        IOException why = failure;
        if (why == null || READER_GONE.equals(why.getMessage())) {
            return code;
        }
        err.println("blackbox: the answer is incomplete, standard output could not be written: " + why.getMessage());
        return code == ExitCodes.OK && !record ? ExitCodes.FAILED : code;
    }
}
