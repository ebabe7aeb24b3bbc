package blackbox.rules.event;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A table that a guest fills and that takes no more memory than it may: what was put in longest ago is forgotten
/// first. Owned by one thread.
public final class Weighed<K, V> {
    private final Map<K, Entry<V>> entries = new LinkedHashMap<>();
    private final long weightMax;
    private final int countMax;
    private final Consumer<K> forgotten;
    private long weight;

    private record Entry<V>(V value, long weight) {}

    /// @param weightMax the most that all values may weigh, in units of whoever puts them in
    /// @param forgotten is told what is forgotten
    public Weighed(int countMax, long weightMax, Consumer<K> forgotten) {
        this.countMax = countMax;
        this.weightMax = weightMax;
        this.forgotten = forgotten;
    }

    public @Nullable V get(K key) {
        Entry<V> entry = entries.get(key);
        return entry == null ? null : entry.value();
    }

    /// Puts a value in as the newest, in the place of the one that is there. One that weighs too much by itself is
    /// forgotten at once.
    public void put(K key, V value, long itsWeight) {
        remove(key);
        entries.put(key, new Entry<>(value, itsWeight));
        weight += itsWeight;
        Iterator<Map.Entry<K, Entry<V>>> eldest = entries.entrySet().iterator();
        while (weight > weightMax || entries.size() > countMax) {
            Map.Entry<K, Entry<V>> old = eldest.next();
            weight -= old.getValue().weight();
            eldest.remove();
            forgotten.accept(old.getKey());
        }
    }

    public void remove(K key) {
        Entry<V> was = entries.remove(key);
        if (was != null) {
            weight -= was.weight();
        }
    }
}
