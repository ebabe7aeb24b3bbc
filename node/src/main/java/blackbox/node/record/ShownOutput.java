package blackbox.node.record;

import blackbox.recorder.capture.TerminalCast;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;

/// The output of a terminal, which is also stored as it is shown.
final class ShownOutput extends FilterOutputStream {

    private final TerminalCast cast;

    ShownOutput(OutputStream out, TerminalCast cast) {
        super(out);
        this.cast = cast;
    }

    @Override
    public void write(int octet) throws IOException {
        write(new byte[] {(byte) octet}, 0, 1);
    }

    @Override
    public void write(byte[] octets, int offset, int length) throws IOException {
        cast.output(Arrays.copyOfRange(octets, offset, offset + length));
        out.write(octets, offset, length);
    }
}
