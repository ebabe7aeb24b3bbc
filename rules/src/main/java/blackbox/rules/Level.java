package blackbox.rules;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/// How bad it is if a rule holds: Sigma's five levels, from the least.
public enum Level {
    INFORMATIONAL,
    LOW,
    MEDIUM,
    HIGH,
    CRITICAL;

    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    public static Optional<Level> of(String word) {
        return Arrays.stream(values())
                .filter(level -> level.word().equals(word))
                .findFirst();
    }

    /// All of them, for people.
    public static String words() {
        return Arrays.stream(values()).map(Level::word).collect(Collectors.joining(", "));
    }
}
