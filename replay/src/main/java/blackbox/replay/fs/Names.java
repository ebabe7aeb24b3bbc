package blackbox.replay.fs;

import blackbox.schemas.row.Text;
import java.io.IOException;
import java.io.InputStream;

/// Checks of names in a file system.
final class Names {
    private static final int TARGET_BYTES_MAX = 4096;
    private static final Text SELF = Text.of(".");
    private static final Text PARENT = Text.of("..");

    private Names() {}

    /// False for `.` and `..`.
    ///
    /// @throws DamagedTreeException when no kernel could have made such a name
    static boolean isEntry(Text name) throws DamagedTreeException {
        for (byte octet : name.toBytes()) {
            if (octet == 0 || octet == '/') {
                throw new DamagedTreeException("a folder has an entry whose name no system call can make");
            }
        }
        return !name.equals(SELF) && !name.equals(PARENT);
    }

    /// A symbolic link's target, from its content.
    static Text target(Inode link, InputStream content) throws IOException {
        if (link.type() != FileType.LINK || link.bytes() == 0 || link.bytes() >= TARGET_BYTES_MAX) {
            throw new DamagedTreeException("inode " + link.number() + " is not a symbolic link that can be read");
        }
        byte[] octets = content.readNBytes((int) link.bytes());
        return Text.copyOf(octets, 0, octets.length);
    }
}
