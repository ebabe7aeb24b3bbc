package blackbox.replay.files;

import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.replay.fs.DamagedTreeException;
import blackbox.replay.fs.FileTree;
import blackbox.replay.fs.FileType;
import blackbox.replay.fs.Inode;
import blackbox.schemas.Hash;
import blackbox.schemas.Sha256;
import blackbox.schemas.row.Text;
import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;

/// One of the two trees that are compared; says which one it is that cannot be read. Owned by one thread.
final class Side {
    static final Comparator<Name> BY_OCTETS = (a, b) -> FileTree.ORDER.compare(a.text(), b.text());
    /// A longer file is described without its digest: one of 16 TiB would take hours.
    private static final long DIGESTED_BYTES_MAX = 1L << 30;
    /// What the overlay notes about a file for itself.
    private static final Set<Text> NOTES = Set.of(
            Text.of("trusted.overlay.origin"),
            Text.of("trusted.overlay.impure"),
            Text.of("trusted.overlay.nlink"),
            Text.of("trusted.overlay.uuid"));

    private final FilesAtEnd files;
    private final String whose;
    /// A folder has one place. In a damaged tree it may be in two, or within itself.
    private final BitSet visited = new BitSet();

    /// @param whose for messages
    Side(FilesAtEnd files, String whose) {
        this.files = files;
        this.whose = whose;
    }

    /// An entry of a folder.
    record Name(Text text, long number) {}

    @FunctionalInterface
    private interface Read<T> {
        T from(FilesAtEnd files) throws IOException;
    }

    private <T> T read(Read<T> what) throws ReplayException, IOException {
        try {
            return what.from(files);
        } catch (DamagedTreeException e) {
            throw damaged(String.valueOf(e.getMessage()), e);
        }
    }

    /// What it means that the tree contradicts itself.
    private ReplayException damaged(String why, DamagedTreeException cause) {
        return new ReplayException(Code.ENGINE, unreadable(why), cause);
    }

    private String unreadable(String why) {
        return "the files that " + whose + " left cannot be compared: " + why;
    }

    /// What it means that the tree is larger than what is compared.
    ReplayException tooLarge(String why) {
        return new ReplayException(Code.ENGINE, unreadable(why));
    }

    Inode top() {
        return files.top();
    }

    Inode inode(long number) throws ReplayException, IOException {
        return read(each -> each.tree().inode(number));
    }

    /// A folder's entries by octets; each folder only once.
    List<Name> list(Inode folder) throws ReplayException, IOException {
        if (folder.number() > Integer.MAX_VALUE || visited.get((int) folder.number())) {
            throw new ReplayException(
                    Code.ENGINE, unreadable("the folder with inode " + folder.number() + " is in two places"));
        }
        visited.set((int) folder.number());
        return read(each -> each.tree().list(folder)).entrySet().stream()
                .map(entry -> new Name(entry.getKey(), entry.getValue()))
                .sorted(BY_OCTETS)
                .toList();
    }

    Text target(Inode link) throws ReplayException, IOException {
        return read(each -> each.tree().target(link));
    }

    InputStream open(Inode file) throws ReplayException, IOException {
        return read(each -> each.tree().open(file));
    }

    /// What a program in the guest could tell from, and whether a folder hides the image's.
    SortedMap<Text, Text> attributes(Inode inode) throws ReplayException, IOException {
        SortedMap<Text, Text> attributes = read(each -> each.tree().attributes(inode));
        attributes.keySet().removeAll(NOTES);
        return attributes;
    }

    /// Whether it stands for a file of the image that was deleted.
    static boolean isDeleted(Inode inode) {
        return inode.type() == FileType.CHARACTER_DEVICE && inode.device() == 0;
    }

    /// What it is, in words.
    static String inWords(Inode inode) {
        if (isDeleted(inode)) {
            return "deleted";
        }
        return switch (inode.type()) {
            case FILE -> "a file of " + inode.bytes() + " octets";
            case FOLDER -> "a folder";
            case LINK -> "a symbolic link";
            case CHARACTER_DEVICE -> "the character device " + device(inode);
            case BLOCK_DEVICE -> "the block device " + device(inode);
            case PIPE -> "a pipe";
            case SOCKET -> "a socket";
        };
    }

    private static String device(Inode inode) {
        return (inode.device() >>> 32) + ":" + (inode.device() & 0xffffffffL);
    }

    /// A file's length and digest, in words.
    String content(Inode file) throws ReplayException, IOException {
        String length = file.bytes() + " octets";
        if (file.bytes() > DIGESTED_BYTES_MAX) {
            return length;
        }
        try (InputStream in = open(file)) {
            MessageDigest digest = Sha256.digest();
            var chunk = new byte[1 << 16];
            for (int n = in.read(chunk); n >= 0; n = in.read(chunk)) {
                digest.update(chunk, 0, n);
            }
            return length + ", SHA-256 " + Hash.copyOf(digest.digest(), 0);
        } catch (DamagedTreeException e) {
            throw damaged(String.valueOf(e.getMessage()), e);
        }
    }
}
