package blackbox.evidence.sign;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class LazyShortcutTest {

    private static final byte[] TEXT = "text".getBytes(StandardCharsets.UTF_8);

    private final AtomicInteger loaded = new AtomicInteger();
    private final AtomicInteger asked = new AtomicInteger();

    @AfterEach
    void withoutAny() {
        Ed25519Verifier.useShortcut(() -> null);
    }

    @Test
    void isLoadedOnceAndOnlyWhereMuchIsVerified() {
        var shortcut = new LazyShortcut(() -> given(true));
        for (int i = 0; i < LazyShortcut.WITHOUT; i++) {
            assertFalse(shortcut.holds(TEXT, TEXT, TEXT));
        }
        assertEquals(0, loaded.get());
        for (int i = 0; i < 100; i++) {
            assertTrue(shortcut.holds(TEXT, TEXT, TEXT));
        }
        assertEquals(1, loaded.get());
        assertEquals(100, asked.get());
    }

    @Test
    void withoutOneNothingIsFound() {
        var shortcut = new LazyShortcut(() -> null);
        for (int i = 0; i < 2 * LazyShortcut.WITHOUT; i++) {
            assertFalse(shortcut.holds(TEXT, TEXT, TEXT));
        }
    }

    /// The provider judges what the shortcut does not find, and a signature's length before either.
    @Test
    void itsNoIsNoVerdict() {
        Ed25519Key key = Ed25519Key.create("key", new SecureRandom());
        byte[] signature = key.sign(TEXT);
        Ed25519Verifier.useShortcut(() -> given(false));
        for (int i = 0; i < 2 * LazyShortcut.WITHOUT; i++) {
            assertTrue(key.verifier().verify(TEXT, signature));
        }
        assertEquals(LazyShortcut.WITHOUT, asked.get());
        signature[3] ^= 1;
        assertFalse(key.verifier().verify(TEXT, signature));
        assertFalse(key.verifier().verify(TEXT, new byte[63]));
        assertEquals(LazyShortcut.WITHOUT + 1, asked.get());
    }

    private Ed25519Shortcut given(boolean finding) {
        loaded.incrementAndGet();
        return (_, _, _) -> {
            asked.incrementAndGet();
            return finding;
        };
    }
}
