package blackbox.vm.carry;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// The first octets of a qcow2 image (QEMU's `docs/interop/qcow2.rst`), to see which other files it names: QEMU opens
/// these, so an image of unknown origin could name any file of the host.
///
/// @param backing what it names as its base, or null
/// @param external whether its data is in another file
record QcowHeader(@Nullable String backing, boolean external) {

    private static final int MAGIC = 0x514649fb;
    private static final int VERSION_MIN = 2;
    private static final int VERSION_MAX = 3;
    private static final int BACKING_BYTES_MAX = 1_023;
    private static final int HEADER_BYTES_MAX = 1 << 16;
    private static final int EXTERNAL_DATA = 1 << 2;

    /// Reads it; null if the file is no qcow2 image.
    static @Nullable QcowHeader read(Path file) throws IOException {
        byte[] head;
        try (InputStream in = Files.newInputStream(file)) {
            head = in.readNBytes(HEADER_BYTES_MAX);
        }
        try (var in = new DataInputStream(new java.io.ByteArrayInputStream(head))) {
            boolean qcow = in.readInt() == MAGIC;
            int version = in.readInt();
            long offset = in.readLong();
            int length = in.readInt();
            if (!qcow || version < VERSION_MIN || version > VERSION_MAX) {
                return null;
            }
            in.skipNBytes(72 - 20);
            long incompatible = version == VERSION_MAX ? in.readLong() : 0;
            String backing = null;
            if (offset != 0) {
                if (length < 0 || length > BACKING_BYTES_MAX || offset < 0 || offset + length > head.length) {
                    return null;
                }
                backing = new String(head, (int) offset, length, StandardCharsets.ISO_8859_1);
            }
            return new QcowHeader(backing, (incompatible & EXTERNAL_DATA) != 0);
        } catch (EOFException _) {
            return null;
        }
    }
}
