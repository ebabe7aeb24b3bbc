package blackbox.replay.cassette;

import blackbox.replay.request.RecordedWords;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The words of what a recording has of all connections, in TLS where it was opened. They are looked for when somebody
/// asks for the first time. Of compressed answers there are none. Owned by one thread.
final class CassetteWords implements RecordedWords {
    /// How much is searched: some seconds. If there is more, every word may be there.
    private static final long OCTETS_MAX = 256L << 20;

    /// The shortest word that is known, and the last part of a UUID.
    private static final int LETTERS_MIN = 12;

    private static final int CHUNK_BYTES = 64 << 10;

    private final Cassette cassette;
    /// Their hashes.
    private @Nullable Set<Long> words;

    private long left = OCTETS_MAX;

    CassetteWords(Cassette cassette) {
        this.cassette = cassette;
    }

    @Override
    public boolean mayHave(String word) {
        Set<Long> known = words;
        if (known == null) {
            known = new HashSet<>();
            words = known;
            for (RecordedConnection each : cassette.conversations()) {
                read(each.request(), known);
                read(each.response(), known);
            }
        }
        String last = word.substring(word.lastIndexOf('-') + 1);
        return left < 0 || last.length() < LETTERS_MIN || known.contains(hash(last));
    }

    private void read(RecordedStream stream, Set<Long> into) {
        left -= stream.length();
        if (left < 0) {
            return;
        }
        long hash = 0;
        int letters = 0;
        for (long at = 0; at < stream.length(); ) {
            byte[] octets = stream.read(at, CHUNK_BYTES);
            for (byte octet : octets) {
                if (isOfWord(octet)) {
                    hash = mix(hash, octet);
                    letters++;
                } else {
                    add(hash, letters, into);
                    hash = 0;
                    letters = 0;
                }
            }
            at += octets.length;
        }
        add(hash, letters, into);
    }

    private static void add(long hash, int letters, Set<Long> into) {
        if (letters >= LETTERS_MIN) {
            into.add(hash);
        }
    }

    private static long hash(String word) {
        long hash = 0;
        for (int i = 0; i < word.length(); i++) {
            hash = mix(hash, (byte) word.charAt(i));
        }
        return hash;
    }

    private static long mix(long hash, byte octet) {
        return (hash ^ octet) * 0x9e3779b97f4a7c15L + Long.rotateLeft(hash, 23);
    }

    private static boolean isOfWord(byte octet) {
        return octet >= '0' && octet <= '9' || octet >= 'a' && octet <= 'z' || octet >= 'A' && octet <= 'Z';
    }
}
