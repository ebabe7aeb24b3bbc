package blackbox.vm.workspace;

import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;

/// Writes an archive in pax format: every entry has an extended header with its exact path, link, size and
/// time, so that no value has to fit into the fixed fields. Owners are 0.
final class TarWriter {
    private static final int BLOCK = 512;

    private final OutputStream out;
    private final byte[] chunk = new byte[64 << 10];

    TarWriter(OutputStream out) {
        this.out = new BufferedOutputStream(out, 64 << 10);
    }

    void entry(char type, String path, String link, int mode, long size, BigDecimal modified) throws IOException {
        var extended = new StringBuilder();
        extended.append(pax("path", path));
        if (!link.isEmpty()) {
            extended.append(pax("linkpath", link));
        }
        extended.append(pax("size", Long.toString(size))).append(pax("mtime", modified.toPlainString()));
        byte[] octets = extended.toString().getBytes(StandardCharsets.ISO_8859_1);
        header('x', "pax", 0644, octets.length, 0);
        out.write(octets);
        pad(octets.length);
        long seconds = modified.setScale(0, RoundingMode.FLOOR).longValue();
        header(type, "entry", mode, size, Math.clamp(seconds, 0, 077777777777L));
    }

    /// Copies exactly `size` bytes of content.
    void content(InputStream from, long size) throws IOException, VmException {
        for (long left = size; left > 0; ) {
            int n = from.read(chunk, 0, (int) Math.min(left, chunk.length));
            if (n < 0) {
                throw new VmException(
                        Code.WORKSPACE_REFUSED, "the guest's workspace was refused: it ends in the middle of a file");
            }
            out.write(chunk, 0, n);
            left -= n;
        }
        pad(size);
    }

    void finish() throws IOException {
        out.write(new byte[2 * BLOCK]);
        out.flush();
    }

    private void header(char type, String name, int mode, long size, long modified) throws IOException {
        var block = new byte[BLOCK];
        put(block, 0, name);
        put(block, 100, octal(mode, 7));
        put(block, 108, octal(0, 7));
        put(block, 116, octal(0, 7));
        put(block, 124, octal(Math.min(size, 077777777777L), 11));
        put(block, 136, octal(modified, 11));
        block[156] = (byte) type;
        put(block, 257, "ustar\00000");
        Arrays.fill(block, 148, 156, (byte) ' ');
        put(block, 148, octal(TarHeader.checksum(block), 6) + "\0 ");
        out.write(block);
    }

    /// One record of an extended header: its decimal length includes itself.
    private static String pax(String key, String value) {
        int rest = key.length() + value.length() + 3;
        int length = rest + Integer.toString(rest).length();
        length = rest + Integer.toString(length).length();
        return length + " " + key + "=" + value + "\n";
    }

    private void pad(long size) throws IOException {
        out.write(new byte[TarFilter.padding(size)]);
    }

    private static void put(byte[] block, int at, String text) {
        byte[] octets = text.getBytes(StandardCharsets.ISO_8859_1);
        System.arraycopy(octets, 0, block, at, octets.length);
    }

    private static String octal(long value, int digits) {
        return String.format(Locale.ROOT, "%0" + digits + "o", value);
    }
}
