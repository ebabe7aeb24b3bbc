package blackbox.node.record;

import blackbox.replay.fs.FileType;
import blackbox.replay.fs.Inode;
import blackbox.replay.fs.MergedTree;
import blackbox.replay.fs.MergedTree.Found;
import blackbox.replay.fs.MergedTree.Last;
import blackbox.replay.fs.MergedTree.Node;
import blackbox.schemas.Hash;
import blackbox.schemas.row.Text;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/// The state of a tree, one line per path: type, mode, owner, time, content, and for a hard link the other path.
final class TreeState {
    private final SortedMap<String, String> lines = new TreeMap<>();
    private final Map<Object, String> firstNames = new HashMap<>();

    private TreeState() {}

    /// The state of a folder on this host.
    static SortedMap<String, String> of(Path folder, String root) throws IOException {
        var state = new TreeState();
        try (Stream<Path> all = Files.walk(folder.resolve(root.substring(1)))) {
            for (Path path : all.sorted().toList()) {
                state.add(path, "/" + folder.relativize(path));
            }
        }
        return state.lines;
    }

    private void add(Path path, String name) throws IOException {
        Map<String, Object> facts = Files.readAttributes(path, "unix:*", LinkOption.NOFOLLOW_LINKS);
        int mode = (Integer) Objects.requireNonNull(facts.get("mode"));
        char letter = letter(mode >>> 12);
        String what = switch (letter) {
            case '-' -> Hash.sha256(Files.readAllBytes(path)).toString();
            case 'l' -> Files.readSymbolicLink(path).toString();
            default -> "";
        };
        long seconds = Files.getLastModifiedTime(path, LinkOption.NOFOLLOW_LINKS)
                .toInstant()
                .getEpochSecond();
        String owner = facts.get("uid") + ":" + facts.get("gid");
        put(name, letter, mode & 07777, owner, seconds, what, Objects.requireNonNull(facts.get("ino")));
    }

    private static char letter(int type) {
        return switch (type) {
            case 8 -> '-';
            case 4 -> 'd';
            case 10 -> 'l';
            case 1 -> 'p';
            default -> throw new IllegalStateException("a file of type " + type);
        };
    }

    /// The state of a folder on a disk as it was.
    static SortedMap<String, String> of(MergedTree tree, String root) throws IOException {
        var state = new TreeState();
        Found found = tree.find(Text.of(root), Last.SHOWN);
        if (found != null) {
            state.add(tree, root, found.node());
        }
        return state.lines;
    }

    private void add(MergedTree tree, String name, Node node) throws IOException {
        Inode inode = node.inode();
        String what = "";
        if (inode.type() == FileType.FILE) {
            try (InputStream in = tree.open(node)) {
                byte[] octets = in.readAllBytes();
                what = Hash.sha256(octets) + (octets.length == inode.bytes() ? "" : " but not of its length");
            }
        } else if (inode.type() == FileType.LINK) {
            what = tree.target(node).toString();
        }
        Object file = inode.type() == FileType.FILE ? node.side() + " " + inode.number() : name;
        put(
                name,
                inode.type().letter(),
                inode.permissions(),
                inode.uid() + ":" + inode.gid(),
                inode.modifiedSeconds(),
                what,
                file);
        if (inode.type() == FileType.FOLDER) {
            for (Map.Entry<Text, Node> each : tree.list(node).entrySet()) {
                add(tree, name + "/" + each.getKey(), each.getValue());
            }
        }
    }

    private void put(String name, char letter, int mode, String owner, long seconds, String what, Object file) {
        String first = letter == '-' ? firstNames.computeIfAbsent(file, _ -> name) : name;
        lines.put(
                name,
                letter + " " + Integer.toOctalString(mode) + " " + owner + " " + seconds + " " + what
                        + (first.equals(name) ? "" : " is " + first));
    }
}
