package blackbox.recorder.keys;

import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/// The content of `keys/log.conf`: which key signs this data folder's log of runs, and where it is stored. It
/// contains no secrets. The format is specified in `schemas/keys.md`.
///
/// @param origin the name of the log and of its keys
/// @param validUntil exclusive; null for no end
/// @param keys verifier keys, one for each signature line; the classical one first
/// @param settings what the store needs to find the private keys
public record LogKeyConf(
        String origin,
        Instant validFrom,
        @Nullable Instant validUntil,
        StoreKind store,
        List<String> keys,
        SequencedMap<String, String> settings) {

    private static final String VERSION_LINE = "blackbox/log-key/v1";
    private static final String NO_END = "-";

    public LogKeyConf {
        keys = List.copyOf(keys);
        settings = new LinkedHashMap<>(settings);
        if (keys.isEmpty()) {
            throw new IllegalArgumentException("a log has at least one key");
        }
    }

    /// The file's text.
    public String text() {
        var text = new StringBuilder(VERSION_LINE).append('\n');
        line(text, "origin", origin);
        line(text, "valid-from", validFrom.toString());
        line(text, "valid-until", validUntil == null ? NO_END : validUntil.toString());
        line(text, "store", store.word());
        keys.forEach(key -> line(text, "key", key));
        settings.forEach((name, value) -> line(text, name, value));
        return text.toString();
    }

    private static void line(StringBuilder text, String name, String value) {
        if (value.isEmpty() || value.indexOf('\n') >= 0) {
            throw new IllegalArgumentException("the value of '" + name + "' is empty or has more than one line");
        }
        text.append(name).append(' ').append(value).append('\n');
    }

    /// Reads what [#text] wrote.
    ///
    /// @throws IllegalArgumentException that says what is wrong
    public static LogKeyConf parse(String text) {
        List<String> lines = text.lines().toList();
        if (lines.isEmpty() || !lines.getFirst().equals(VERSION_LINE)) {
            throw new IllegalArgumentException("it does not begin with '" + VERSION_LINE + "'");
        }
        var keys = new ArrayList<String>();
        var settings = new LinkedHashMap<String, String>();
        for (String line : lines.subList(1, lines.size())) {
            int space = line.indexOf(' ');
            if (space <= 0) {
                throw new IllegalArgumentException("not a name and a value: '" + line + "'");
            }
            String name = line.substring(0, space);
            String value = line.substring(space + 1);
            if (name.equals("key")) {
                keys.add(value);
            } else if (settings.put(name, value) != null) {
                throw new IllegalArgumentException("'" + name + "' occurs twice");
            }
        }
        return new LogKeyConf(
                take(settings, "origin"),
                time(take(settings, "valid-from")),
                end(take(settings, "valid-until")),
                StoreKind.of(take(settings, "store")),
                keys,
                settings);
    }

    private static String take(Map<String, String> settings, String name) {
        String value = settings.remove(name);
        if (value == null) {
            throw new IllegalArgumentException("'" + name + "' is missing");
        }
        return value;
    }

    private static @Nullable Instant end(String text) {
        return text.equals(NO_END) ? null : time(text);
    }

    private static Instant time(String text) {
        try {
            return Instant.parse(text);
        } catch (DateTimeParseException e) {
            throw new IllegalArgumentException("not a time: '" + text + "'", e);
        }
    }

    /// What the store needs under `name`.
    ///
    /// @throws IllegalArgumentException when it is missing
    String setting(String name) {
        String value = settings.get(name);
        if (value == null) {
            throw new IllegalArgumentException("'" + name + "' is missing");
        }
        return value;
    }
}
