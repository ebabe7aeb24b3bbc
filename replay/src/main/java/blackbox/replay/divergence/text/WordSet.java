package blackbox.replay.divergence.text;

/// The words of one side's texts, as hashes. Exact up to [#WORDS_MAX] words; beyond that it takes no more and
/// claims to have every word, so that a name is compared rather than taken for made up. Owned by one thread.
public final class WordSet {

    public static final int WORDS_MAX = 1 << 21;
    private static final int RECENT = 1 << 12;

    /// Words met a moment ago: most words are among them.
    private final long[] recent = new long[RECENT];

    /// Open addressing with linear probing; 0 is a free slot.
    private long[] slots = new long[1 << 12];

    private int size;

    public void add(long word) {
        long key = key(word);
        int place = (int) key & RECENT - 1;
        if (recent[place] == key) {
            return;
        }
        recent[place] = key;
        int slot = slot(key);
        if (slots[slot] == key || isFull()) {
            return;
        }
        slots[slot] = key;
        if (++size * 2 > slots.length) {
            grow();
        }
    }

    /// Whether the word was added, or may have been.
    public boolean contains(long word) {
        long key = key(word);
        return isFull() || slots[slot(key)] == key;
    }

    /// Whether words were turned away, or would be.
    public boolean isFull() {
        return size >= WORDS_MAX;
    }

    private static long key(long word) {
        return word == 0 ? 1 : word;
    }

    private int slot(long key) {
        int mask = slots.length - 1;
        int slot = (int) (key ^ key >>> 32) & mask;
        while (slots[slot] != 0 && slots[slot] != key) {
            slot = slot + 1 & mask;
        }
        return slot;
    }

    private void grow() {
        long[] old = slots;
        slots = new long[old.length * 2];
        for (long key : old) {
            if (key != 0) {
                slots[slot(key)] = key;
            }
        }
    }
}
