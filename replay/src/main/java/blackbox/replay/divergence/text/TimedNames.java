package blackbox.replay.divergence.text;

import blackbox.replay.content.NameTime;
import blackbox.replay.content.Window;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/// Times in names that programs gave to files and folders when they created them. Each counts as what its creator had
/// created so before, wherever it is written from then on; but only if it was the creator's own time ([NameTime]),
/// and not one that both sides gave to what they created: any other time stands for itself.
///
/// Memory: [#LIVE_MAX] to twice as many times in use. Owned by one thread.
final class TimedNames {
    private static final int LIVE_MAX = 4_096;

    private final KeyedHash hash;
    private final MadeUpNames names;
    private final GenerationalCache canons = new GenerationalCache(LIVE_MAX);
    /// Sum over the times that were replaced in the last text.
    private long replaced;

    TimedNames(KeyedHash hash, MadeUpNames names) {
        this.hash = hash;
        this.names = names;
    }

    /// Learns the times in the name of something that was created.
    ///
    /// @param from where the name begins
    /// @param window when the times may be from
    /// @param canon what they count as
    /// @return whether there is any
    boolean learn(byte[] array, int from, int end, Window window, long canon) {
        boolean any = false;
        for (int i = from; i < end; i++) {
            NameTime time = NameTime.at(array, i, end);
            if (time == null) {
                continue;
            }
            long key = key(array, i, time.length());
            if (names.isOfThisSide(key) && time.isIn(window)) {
                any = true;
                names.takeForOwn(key);
                if (canons.get(key) == GenerationalCache.ABSENT) {
                    canons.put(key, hash.mix(canon, i - from) >>> 1);
                }
            }
        }
        return any;
    }

    private long key(byte[] array, int from, int length) {
        long key = length;
        for (int i = from; i < from + length; i++) {
            key = hash.mix(key, array[i]);
        }
        return key;
    }

    /// A text with what its times count as in their place; null if it has none that is known.
    byte @Nullable [] standIns(byte[] array, int from, int length) {
        replaced = 0;
        if (canons.isEmpty()) {
            return null;
        }
        ByteArrayOutputStream text = null;
        int end = from + length;
        int copied = from;
        for (int i = from; i < end; i++) {
            if (!isDigit(array[i]) || i > from && isDigit(array[i - 1])) {
                continue;
            }
            NameTime time = NameTime.at(array, i, end);
            long canon = time == null ? GenerationalCache.ABSENT : canons.get(key(array, i, time.length()));
            if (time != null && canon != GenerationalCache.ABSENT) {
                text = text == null ? new ByteArrayOutputStream(length) : text;
                text.write(array, copied, i - copied);
                text.writeBytes(Long.toHexString(canon).getBytes(StandardCharsets.US_ASCII));
                replaced += key(array, i, time.length());
                copied = i + time.length();
                i = copied - 1;
            }
        }
        if (text != null) {
            text.write(array, copied, end - copied);
        }
        return text == null ? null : text.toByteArray();
    }

    /// Sum over the times that [#standIns] replaced the last time, as they were written.
    long replaced() {
        return replaced;
    }

    private static boolean isDigit(byte octet) {
        return octet >= '0' && octet <= '9';
    }
}
