package blackbox.replay.fs;

import blackbox.schemas.row.Text;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// What overlayfs shows of an upper folder over a lower tree (Linux,
/// `Documentation/filesystems/overlayfs.rst`): a character device 0:0 above hides what is below, and so does
/// a folder that is marked opaque; folders of the same name are merged; everything else in the upper folder
/// replaces what is below.
public final class MergedTree {
    private static final int LINKS_FOLLOWED_MAX = 40;
    private static final Text PARENT = Text.of("..");
    private static final Text UPPER = Text.of("upper");

    private final FileTree upper;
    private final @Nullable Inode upperRoot;
    private final FileTree lower;

    /// @param upperRoot the folder within `upper` that is overlaid on the root of `lower`, or null for nothing
    public MergedTree(FileTree upper, @Nullable Inode upperRoot, FileTree lower) {
        this.upper = upper;
        this.upperRoot = upperRoot;
        this.lower = lower;
    }

    /// The folder of a guest's writable disk that is overlaid on its image, or null while the disk holds none: the
    /// guest makes it as it starts, in memory first.
    public static @Nullable Inode upperRoot(FileTree disk) throws IOException {
        Long number = disk.list(disk.root()).get(UPPER);
        return number == null ? null : disk.inode(number);
    }

    /// Which of the two trees a file is in.
    public enum Side {
        UPPER,
        LOWER
    }

    /// A file in the merged tree.
    ///
    /// @param inode in the tree of that side
    /// @param below the lower folder that shows through this one, or null
    public record Node(Side side, Inode inode, @Nullable Inode below) {}

    /// A file that was found.
    ///
    /// @param path its own, from the root, with links resolved
    public record Found(Text path, Node node) {}

    /// The folder at the top.
    public Node root() throws IOException {
        Inode top = upperRoot;
        return top == null ? new Node(Side.LOWER, lower.root(), null) : new Node(Side.UPPER, top, lower.root());
    }

    /// A folder's entries, sorted by octets.
    public SortedMap<Text, Node> list(Node folder) throws IOException {
        var nodes = new TreeMap<Text, Node>(FileTree.ORDER);
        Inode below = folder.below();
        if (below != null) {
            for (Map.Entry<Text, Long> each : lower.list(below).entrySet()) {
                nodes.put(each.getKey(), new Node(Side.LOWER, lower.inode(each.getValue()), null));
            }
        }
        FileTree tree = tree(folder);
        for (Map.Entry<Text, Long> each : tree.list(folder.inode()).entrySet()) {
            Inode inode = tree.inode(each.getValue());
            if (folder.side() == Side.LOWER) {
                nodes.put(each.getKey(), new Node(Side.LOWER, inode, null));
            } else if (isWhiteout(inode)) {
                nodes.remove(each.getKey());
            } else {
                nodes.put(each.getKey(), over(inode, nodes.get(each.getKey())));
            }
        }
        return nodes;
    }

    private FileTree tree(Node node) {
        return switch (node.side()) {
            case UPPER -> upper;
            case LOWER -> lower;
        };
    }

    private static boolean isWhiteout(Inode inode) {
        return inode.type() == FileType.CHARACTER_DEVICE && inode.device() == 0;
    }

    private Node over(Inode inode, @Nullable Node hidden) throws IOException {
        for (String moved : List.of("overlay.redirect", "overlay.metacopy")) {
            if (upper.trusted(inode, moved) != null) {
                throw new DamagedTreeException(
                        "the guest's overlay has a file marked " + moved + ", which its mount never makes");
            }
        }
        if (inode.type() != FileType.FOLDER || hidden == null || hidden.inode().type() != FileType.FOLDER) {
            return new Node(Side.UPPER, inode, null);
        }
        Text opaque = upper.trusted(inode, "overlay.opaque");
        boolean hides = opaque != null && opaque.toString().equals("y");
        return new Node(Side.UPPER, inode, hides ? null : hidden.inode());
    }

    /// The octets of a file.
    public InputStream open(Node file) throws IOException {
        return tree(file).open(file.inode());
    }

    /// Where a symbolic link points to.
    public Text target(Node link) throws IOException {
        return tree(link).target(link.inode());
    }

    /// Whether to follow a symbolic link at a path's end.
    public enum Last {
        FOLLOWED,
        SHOWN
    }

    /// Looks a path up as the guest would, never leaving the tree; null if there is nothing.
    public @Nullable Found find(Text path, Last last) throws IOException {
        Deque<Text> left = new ArrayDeque<>(parts(path));
        var trail = new ArrayList<Found>();
        trail.add(new Found(Text.of("/"), root()));
        int followed = 0;
        while (!left.isEmpty()) {
            Text part = left.pop();
            if (part.equals(PARENT)) {
                if (trail.size() > 1) {
                    trail.removeLast();
                }
                continue;
            }
            Found here = trail.getLast();
            Node node = here.node().inode().type() == FileType.FOLDER
                    ? list(here.node()).get(part)
                    : null;
            if (node == null) {
                return null;
            }
            if (node.inode().type() == FileType.LINK && (last == Last.FOLLOWED || !left.isEmpty())) {
                if (++followed > LINKS_FOLLOWED_MAX) {
                    return null;
                }
                Text target = target(node);
                if (target.toBytes()[0] == '/') {
                    trail.subList(1, trail.size()).clear();
                }
                parts(target).reversed().forEach(left::push);
            } else {
                trail.add(new Found(join(here.path(), part), node));
            }
        }
        return trail.getLast();
    }

    /// The path of an entry of a folder.
    public static Text join(Text folder, Text name) {
        byte[] above = folder.toBytes();
        int length = above.length == 1 ? 0 : above.length;
        var joined = new byte[length + 1 + name.length()];
        System.arraycopy(above, 0, joined, 0, length);
        joined[length] = '/';
        System.arraycopy(name.toBytes(), 0, joined, length + 1, name.length());
        return Text.copyOf(joined, 0, joined.length);
    }

    private static List<Text> parts(Text path) {
        // Octets as characters and back, since what is not UTF-8 must survive.
        var parts = new ArrayList<Text>();
        for (String part : new String(path.toBytes(), StandardCharsets.ISO_8859_1).split("/", -1)) {
            if (!part.isEmpty() && !part.equals(".")) {
                byte[] octets = part.getBytes(StandardCharsets.ISO_8859_1);
                parts.add(Text.copyOf(octets, 0, octets.length));
            }
        }
        return Collections.unmodifiableList(parts);
    }
}
