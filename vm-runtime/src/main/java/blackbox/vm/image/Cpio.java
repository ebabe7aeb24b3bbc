package blackbox.vm.image;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/// Writes the kernel's initramfs format: cpio "newc" (Documentation/driver-api/early-userspace/buffer-format.rst).
/// Times, owners, inode and device numbers are fixed, so the bytes depend on names, modes and contents only.
/// The kernel accepts several such archives one after the other, each on a four-byte boundary.
final class Cpio {
    private static final int DIRECTORY = 0040000;
    private static final int FILE = 0100000;
    private static final int CHARACTER_DEVICE = 0020000;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private int inode = 1;

    void directory(String name) {
        entry(name, DIRECTORY | 0755, 2, new byte[0], 0, 0);
    }

    void file(String name, int permissions, byte[] content) {
        entry(name, FILE | permissions, 1, content, 0, 0);
    }

    void characterDevice(String name, int permissions, int major, int minor) {
        entry(name, CHARACTER_DEVICE | permissions, 1, new byte[0], major, minor);
    }

    /// Ends the archive and returns it.
    byte[] finish() {
        inode = 0;
        entry("TRAILER!!!", 0, 1, new byte[0], 0, 0);
        while (out.size() % 512 != 0) {
            out.write(0);
        }
        return out.toByteArray();
    }

    private void entry(String name, int mode, int links, byte[] content, int major, int minor) {
        byte[] path = name.getBytes(StandardCharsets.UTF_8);
        int[] fields = {inode++, mode, 0, 0, links, 0, content.length, 0, 0, major, minor, path.length + 1, 0};
        var header = new StringBuilder("070701");
        for (int field : fields) {
            header.append(String.format(Locale.ROOT, "%08X", field));
        }
        out.writeBytes(header.toString().getBytes(StandardCharsets.US_ASCII));
        out.writeBytes(path);
        out.write(0);
        pad();
        out.writeBytes(content);
        pad();
    }

    private void pad() {
        while (out.size() % 4 != 0) {
            out.write(0);
        }
    }
}
