package blackbox.replay.git;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.zip.DataFormatException;
import org.jspecify.annotations.Nullable;

/// What reading one side's packs may cost, and the contents that were made last: a hostile guest may leave packs that
/// hold little and inflate to any length. Owned by one thread.
final class PackWork {
    /// Octets that are inflated, or put together from others, each time that they are: some seconds.
    static final long OCTETS_MAX = 512 << 20;

    private static final int CACHED_OCTETS_MAX = 16 << 20;
    /// What an object costs beside its octets.
    private static final int OBJECT_OCTETS = 256;

    private final Map<Object, byte[]> cached = new LinkedHashMap<>(16, 0.75f, true);
    private long cachedOctets;
    private long octetsLeft;

    PackWork(long octetsMax) {
        octetsLeft = octetsMax;
    }

    /// To be called before an object of so many octets is made.
    ///
    /// @throws DataFormatException if this is more than is left
    void spend(long octets) throws DataFormatException {
        octetsLeft -= octets + OBJECT_OCTETS;
        if (octetsLeft < 0) {
            throw new DataFormatException("too much to inflate");
        }
    }

    byte @Nullable [] cached(Object key) {
        return cached.get(key);
    }

    void keep(Object key, byte[] octets) {
        if (octets.length <= CACHED_OCTETS_MAX / 2 && cached.put(key, octets) == null) {
            cachedOctets += octets.length;
            for (Iterator<byte[]> oldest = cached.values().iterator(); cachedOctets > CACHED_OCTETS_MAX; ) {
                cachedOctets -= oldest.next().length;
                oldest.remove();
            }
        }
    }
}
