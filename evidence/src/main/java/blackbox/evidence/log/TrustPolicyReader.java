package blackbox.evidence.log;

import java.util.ArrayList;
import java.util.Base64;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Reads a trust policy (C2SP tlog-policy, "Policy file syntax and structure"), line by line. Used once.
///
/// Stricter than the specification in one thing: the text has to be UTF-8, since it comes as a string.
public final class TrustPolicyReader {

    /// Makes a verifier of a verifier key; `blackbox.evidence.sign` knows how.
    @FunctionalInterface
    public interface Keys {

        /// @throws IllegalArgumentException when it is not a key of a known type
        NoteVerifier parse(String vkey);
    }

    private static final int LINES_MAX = 10_000;

    private final Keys keys;
    private final List<NoteVerifier> logs = new ArrayList<>();
    private final Map<String, NoteVerifier> witnesses = new LinkedHashMap<>();
    private final Map<String, TrustPolicy.Group> groups = new LinkedHashMap<>();
    private final Set<String> members = new HashSet<>();
    private final Set<String> logKeys = new HashSet<>();
    private final Set<String> witnessKeys = new HashSet<>();
    private @Nullable String quorum;

    TrustPolicyReader(Keys keys) {
        this.keys = keys;
    }

    TrustPolicy read(String text) {
        String[] lines = text.split("\n", LINES_MAX);
        for (int i = 0; i < lines.length; i++) {
            try {
                line(lines[i]);
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException("trust policy, line " + (i + 1) + ": " + e.getMessage(), e);
            }
        }
        if (quorum == null) {
            throw new IllegalArgumentException(
                    "trust policy: there is no quorum line; 'quorum none' requires no witness");
        }
        return new TrustPolicy(logs, witnesses, groups, quorum);
    }

    private void line(String line) {
        require(line.chars().noneMatch(c -> c < 0x20 && c != '\t' || c == 0x7f), "it has a control character");
        List<String> items = items(line);
        if (items.isEmpty() || items.getFirst().startsWith("#")) {
            return;
        }
        switch (items.getFirst()) {
            case "log" -> log(items);
            case "witness" -> witness(items);
            case "group" -> group(items);
            case "quorum" -> quorum(items);
            default ->
                throw new IllegalArgumentException(
                        "it begins with '" + items.getFirst() + "', not with log, witness, group or quorum");
        }
    }

    /// The items between spaces and tabs; other white space is part of an item.
    private static List<String> items(String line) {
        var items = new ArrayList<String>();
        for (String item : line.split("[ \t]+", -1)) {
            if (!item.isEmpty()) {
                items.add(item);
            }
        }
        return items;
    }

    private void log(List<String> items) {
        require(items.size() == 2 || items.size() == 3, "a log is 'log <vkey> [<url>]'");
        NoteVerifier log = keys.parse(items.get(1));
        require(type(log) != Cosignature.ED25519, "a log's key is not a witness's (type 4)");
        require(logKeys.add(publicKey(log)), "two logs have the same public key");
        logs.add(log);
    }

    private void witness(List<String> items) {
        require(items.size() == 3 || items.size() == 4, "a witness is 'witness <name> <vkey> [<url>]'");
        NoteVerifier witness = keys.parse(items.get(2));
        byte type = type(witness);
        require(
                type == Cosignature.ED25519 || type == Cosignature.ML_DSA_44,
                "a witness's key is of type 4 or 6, not " + type);
        require(witnessKeys.add(publicKey(witness)), "two witnesses have the same public key");
        witnesses.put(newName(items.get(1)), witness);
    }

    private void group(List<String> items) {
        require(items.size() >= 4, "a group is 'group <name> all|any|<k> <name>...'");
        List<String> listed = items.subList(3, items.size());
        int threshold = threshold(items.get(2), listed.size());
        for (String member : listed) {
            require(isKnown(member), "'" + member + "' is not defined above");
            require(members.add(member), "'" + member + "' is a member already");
        }
        groups.put(newName(items.get(1)), new TrustPolicy.Group(threshold, listed));
    }

    private static int threshold(String word, int count) {
        return switch (word) {
            case "all" -> count;
            case "any" -> 1;
            default -> {
                require(word.matches("[1-9][0-9]{0,8}"), "'" + word + "' is not all, any or a number");
                yield Integer.parseInt(word);
            }
        };
    }

    private void quorum(List<String> items) {
        require(items.size() == 2, "a quorum is 'quorum <name>'");
        require(quorum == null, "there are two quorum lines");
        String name = items.get(1);
        require(name.equals(TrustPolicy.NONE) || isKnown(name), "'" + name + "' is not defined above");
        quorum = name;
    }

    private String newName(String name) {
        require(!isKnown(name) && !name.equals(TrustPolicy.NONE), "the name '" + name + "' is taken");
        return name;
    }

    private boolean isKnown(String name) {
        return witnesses.containsKey(name) || groups.containsKey(name);
    }

    private static byte type(NoteVerifier key) {
        return keyOctets(key)[0];
    }

    private static String publicKey(NoteVerifier key) {
        byte[] octets = keyOctets(key);
        return HexFormat.of().formatHex(octets, 1, octets.length);
    }

    /// The last part of a verifier key: its type, then the public key.
    private static byte[] keyOctets(NoteVerifier key) {
        return Base64.getDecoder().decode(key.encoded().split("\\+", 3)[2]);
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalArgumentException(otherwise);
        }
    }
}
