package blackbox.replay.compare;

import blackbox.schemas.row.Text;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BinaryOperator;
import org.jspecify.annotations.Nullable;

/// Something about each path, kept as a tree of names, so that a folder is renamed with all that is below it in a time
/// that depends on how deep it lies and not on how much it holds.
///
/// Memory: [#PATHS_MAX] names; nothing is kept of further ones. A path is a claim of the guest's: it may say that a
/// folder was moved into itself, and is then not believed.
final class PathTree<V> {
    static final int PATHS_MAX = 1 << 17;
    private static final int NAME_OCTETS_MAX = 32 << 20;

    private final Node<V> root = new Node<>();
    private int names;
    private long octets;

    private static final class Node<V> {
        private Map<Text, Node<V>> below = Map.of();
        private @Nullable V value;
    }

    /// What is known of it, or null.
    @Nullable
    V get(Text path) {
        Node<V> node = find(path);
        return node == null ? null : node.value;
    }

    /// Adds to what is known of it.
    void merge(Text path, V value, BinaryOperator<V> both) {
        Node<V> node = make(path);
        if (node != null) {
            V known = node.value;
            node.value = known == null ? value : both.apply(known, value);
        }
    }

    /// Moves what is below a folder, in place of what is known to be below the other one: a folder that is
    /// renamed over is empty, also where nothing is known to be below the first. If there is no room for the
    /// other one, nothing is known of it from then on.
    void moveBelow(Text from, Text to) {
        if (isBelow(from, to) || isBelow(to, from)) {
            return;
        }
        Node<V> moved = find(from);
        boolean isEmpty = moved == null || moved.below.isEmpty();
        Node<V> target = isEmpty ? find(to) : make(to);
        if (target != null) {
            target.below = moved == null ? Map.of() : moved.below;
        }
        if (moved != null) {
            moved.below = Map.of();
        }
    }

    /// Whether a path is the other one, or below it.
    private static boolean isBelow(Text folder, Text path) {
        byte[] one = folder.toBytes();
        byte[] other = path.toBytes();
        return other.length >= one.length
                && Arrays.equals(one, 0, one.length, other, 0, one.length)
                && (other.length == one.length || other[one.length] == '/');
    }

    private @Nullable Node<V> find(Text path) {
        byte[] letters = path.toBytes();
        Node<V> node = root;
        for (int at = 0; at < letters.length && node != null; ) {
            int end = endOfName(letters, at);
            node = end == at ? node : node.below.get(Text.copyOf(letters, at, end - at));
            at = end + 1;
        }
        return node;
    }

    private @Nullable Node<V> make(Text path) {
        byte[] letters = path.toBytes();
        Node<V> node = root;
        for (int at = 0; at < letters.length && node != null; ) {
            int end = endOfName(letters, at);
            node = end == at ? node : child(node, Text.copyOf(letters, at, end - at));
            at = end + 1;
        }
        return node;
    }

    private @Nullable Node<V> child(Node<V> node, Text name) {
        Node<V> known = node.below.get(name);
        if (known != null || names >= PATHS_MAX || octets >= NAME_OCTETS_MAX) {
            return known;
        }
        names++;
        octets += name.length();
        if (node.below.isEmpty()) {
            node.below = new HashMap<>(4);
        }
        var made = new Node<V>();
        node.below.put(name, made);
        return made;
    }

    /// The octets of the last name in a path.
    static byte[] lastName(Text path) {
        byte[] letters = path.toBytes();
        int from = letters.length;
        while (from > 0 && letters[from - 1] != '/') {
            from--;
        }
        return Arrays.copyOfRange(letters, from, letters.length);
    }

    private static int endOfName(byte[] letters, int from) {
        int end = from;
        while (end < letters.length && letters[end] != '/') {
            end++;
        }
        return end;
    }
}
