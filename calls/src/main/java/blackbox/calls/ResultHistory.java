package blackbox.calls;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;

/// Tells which results of tools a request brings for the first time: agents send their whole conversation each time.
/// A request whose list of results begins with the whole list of an earlier one of the same peer brings the rest. Ids
/// may repeat, since some APIs have names instead. One thread at a time.
public final class ResultHistory {
    /// How many lists are remembered; of older ones everything counts as new.
    static final int LISTS_MAX = 8192;

    /// Digests of whole lists, with whom they were sent to.
    private final Set<String> seen = new HashSet<>();

    private final ArrayDeque<String> oldest = new ArrayDeque<>();

    /// The results that are new, in their order; remembers the list.
    ///
    /// @param peer whoever the request went to
    public List<String> fresh(String peer, ModelCall.Request request) {
        List<String> results = request.toolResults();
        MessageDigest digest = sha256();
        add(digest, peer);
        add(digest, Long.toString(request.toolResultsLeftOff()));
        int known = 0;
        String list = null;
        for (int at = 0; at < results.size(); at++) {
            add(digest, results.get(at));
            list = soFar(digest);
            if (seen.contains(list)) {
                known = at + 1;
            }
        }
        if (list != null) {
            remember(list);
        }
        return results.subList(known, results.size());
    }

    private static void add(MessageDigest digest, String text) {
        byte[] octets = text.getBytes(StandardCharsets.UTF_8);
        digest.update(ByteBuffer.allocate(Integer.BYTES).putInt(octets.length).flip());
        digest.update(octets);
    }

    /// A copy, since what it is of goes on.
    private static String soFar(MessageDigest digest) {
        try {
            return HexFormat.of().formatHex(((MessageDigest) digest.clone()).digest());
        } catch (CloneNotSupportedException e) {
            throw new IllegalStateException("the JDK's SHA-256 can be copied", e);
        }
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JVM has SHA-256", e);
        }
    }

    private void remember(String list) {
        if (seen.add(list)) {
            oldest.add(list);
            if (oldest.size() > LISTS_MAX) {
                seen.remove(oldest.remove());
            }
        }
    }
}
