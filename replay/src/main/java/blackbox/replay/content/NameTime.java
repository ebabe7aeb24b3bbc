package blackbox.replay.content;

import org.jspecify.annotations.Nullable;

/// A time with its date in a name that a program gave to what it created: `2026-11-25T12_11_37_123Z-debug-0.log`.
///
/// Such a time is its side's own if the program that created the thing may have read it from its clock: since it began,
/// but not more than a minute before it created the thing, and not afterwards, give or take a second.
///
/// @param length how many octets it has
/// @param ns nanoseconds since 1970, of the first moment that it may mean
public record NameTime(int length, long ns) {
    private static final long BEFORE_NS = 60_000_000_000L;

    /// When the time may be from that is in the name of something.
    ///
    /// @param beganNs when its creator did; [Long#MAX_VALUE] if that is not known
    public static Window window(long beganNs, long createdNs) {
        return new Window(Math.clamp(beganNs, createdNs - BEFORE_NS, createdNs), createdNs);
    }

    /// The time that begins at an octet, or null.
    ///
    /// @param octets in which `from` is the first, or the one before it belongs to the same name
    /// @param end of the name
    public static @Nullable NameTime at(byte[] octets, int from, int end) {
        PrintedTime time = PrintedTime.inName(octets, from, end);
        return time != null && time.shown() instanceof ShownTime.Once once
                ? new NameTime(time.length(), once.ns())
                : null;
    }

    /// Whether it is of a window, give or take a second.
    public boolean isIn(Window window) {
        return window.has(ns, 1);
    }

    /// The first one in a name; null if there is none.
    public static @Nullable NameTime in(byte[] name) {
        for (int i = 0; i < name.length; i++) {
            NameTime time = at(name, i, name.length);
            if (time != null) {
                return time;
            }
        }
        return null;
    }
}
