package blackbox.vm.workspace;

import static blackbox.vm.workspace.TarFilter.number;
import static blackbox.vm.workspace.TarFilter.require;
import static blackbox.vm.workspace.TarFilter.time;

import blackbox.vm.VmException;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// One header of a ustar archive (POSIX.1-2001, pax interchange format), including what an extended header
/// overrides.
///
/// @param type the type flag
/// @param path name, octets as ISO 8859-1
/// @param link target of a link, likewise
/// @param size bytes of content that follow
/// @param modified seconds since 1970
record TarHeader(char type, String path, String link, int mode, long size, BigDecimal modified) {
    private static final int BLOCK = 512;
    private static final int CHECKSUM_AT = 148;

    /// The next header, or null at the end marker or the end of the stream.
    static @Nullable TarHeader read(InputStream from) throws IOException, VmException {
        byte[] block = from.readNBytes(BLOCK);
        if (block.length == 0 || allZero(block)) {
            return null;
        }
        require(block.length == BLOCK, "it ends in the middle of a header");
        require(checksum(block) == octal(block, CHECKSUM_AT, 8), "a header with a wrong checksum");
        require(text(block, 257, 6).equals("ustar"), "an archive that is not in POSIX format");
        String prefix = text(block, 345, 155);
        String name = text(block, 0, 100);
        return new TarHeader(
                (char) (block[156] & 0xff),
                prefix.isEmpty() ? name : prefix + "/" + name,
                text(block, 157, 100),
                (int) octal(block, 100, 8),
                octal(block, 124, 12),
                BigDecimal.valueOf(octal(block, 136, 12)));
    }

    /// This header with its values overridden by those of an extended one.
    TarHeader with(Map<String, String> extended) throws VmException {
        String sizeText = extended.get("size");
        String modifiedText = extended.get("mtime");
        return new TarHeader(
                type,
                extended.getOrDefault("path", path),
                extended.getOrDefault("linkpath", link),
                mode,
                sizeText == null ? size : number(sizeText),
                modifiedText == null ? modified : time(modifiedText));
    }

    static long checksum(byte[] block) {
        long sum = 0;
        for (int i = 0; i < BLOCK; i++) {
            sum += i >= CHECKSUM_AT && i < CHECKSUM_AT + 8 ? ' ' : block[i] & 0xff;
        }
        return sum;
    }

    private static long octal(byte[] block, int at, int length) throws VmException {
        String digits = text(block, at, length).strip();
        require(digits.length() <= 12 && digits.matches("[0-7]*"), "a malformed number");
        return digits.isEmpty() ? 0 : Long.parseLong(digits, 8);
    }

    private static String text(byte[] block, int at, int length) {
        int end = at;
        while (end < at + length && block[end] != 0) {
            end++;
        }
        return new String(block, at, end - at, StandardCharsets.ISO_8859_1);
    }

    private static boolean allZero(byte[] block) {
        for (byte octet : block) {
            if (octet != 0) {
                return false;
            }
        }
        return true;
    }
}
