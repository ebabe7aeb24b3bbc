package blackbox.evidence.sign;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// A shortcut that is loaded only when it starts to pay off: loading takes as long as verifying a hundred
/// signatures, and most processes verify fewer. Safe for use by many threads.
final class LazyShortcut {

    /// How many signatures are left to the provider before that.
    static final int WITHOUT = 64;

    static final LazyShortcut NONE = new LazyShortcut(() -> null);

    private final Supplier<? extends @Nullable Ed25519Shortcut> source;
    private final AtomicInteger asked = new AtomicInteger();

    private volatile Ed25519Shortcut loaded = (_, _, _) -> false;

    /// @param source supplies it, or null if it is not available; called once
    LazyShortcut(Supplier<? extends @Nullable Ed25519Shortcut> source) {
        this.source = source;
    }

    boolean holds(byte[] publicKey, byte[] text, byte[] signature) {
        // Exactly one thread reaches that number.
        if (asked.get() <= WITHOUT && asked.incrementAndGet() == WITHOUT + 1) {
            Ed25519Shortcut given = source.get();
            if (given != null) {
                loaded = given;
            }
        }
        return loaded.holds(publicKey, text, signature);
    }
}
