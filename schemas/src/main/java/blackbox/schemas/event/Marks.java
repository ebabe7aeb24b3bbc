package blackbox.schemas.event;

import java.util.List;
import java.util.Map;

/// Values of an event that are incomplete.
///
/// @param truncated value's name (as in CLI.md: `argv`, `env`, `path`, …) to its original size in octets (elements, for
/// a depth)
/// @param unread names of values that could not be read
public record Marks(Map<String, Long> truncated, List<String> unread) {

    public static final Marks NONE = new Marks(Map.of(), List.of());

    public Marks {
        truncated = Map.copyOf(truncated);
        unread = List.copyOf(unread);
    }
}
