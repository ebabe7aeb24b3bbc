package blackbox.replay.git;

import blackbox.schemas.Hash;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// A commit or a tag: lines that say what it is about, who made it and when, and a message.
///
/// @param message from the empty line on
record Annotated(GitObject.Type type, List<Line> header, String message) {
    /// Longer ones, and those with more lines above their message, stand for nothing: a hostile guest may leave any.
    private static final int OCTETS_MAX = 1 << 16;

    private static final int LINES_MAX = 1_000;

    private static final Pattern STAMP = Pattern.compile("(.*> )([0-9]{1,10}) ([+-][0-9]{4})");
    private static final Pattern ID = Pattern.compile("[0-9a-f]{" + IdTies.ABBREVIATED_MIN + ",}");

    /// A line of the header.
    ///
    /// @param name the first word
    /// @param value what follows, as it is
    /// @param stamp the value as who and when, or null if it is something else
    record Line(String name, String value, @Nullable Stamp stamp) {

        private static Line of(String line) {
            int space = line.indexOf(' ');
            String name = space < 0 ? line : line.substring(0, space);
            String value = space < 0 ? "" : line.substring(space + 1);
            return new Line(name, value, isStamp(name) ? Stamp.of(value) : null);
        }

        private static boolean isStamp(String name) {
            return name.equals("author") || name.equals("committer") || name.equals("tagger");
        }

        /// Whether the value is another object's id.
        boolean isId() {
            return name.equals("tree") || name.equals("parent") || name.equals("object");
        }

        /// What it says without ids and times.
        private String alike() {
            if (isId()) {
                return name;
            }
            return stamp == null ? name + ' ' + value : name + ' ' + stamp.who() + stamp.zone();
        }
    }

    /// Who did something, and when.
    ///
    /// @param seconds since 1970
    /// @param zone as it is written, such as `+0100`
    record Stamp(String who, long seconds, String zone) {
        private static @Nullable Stamp of(String value) {
            Matcher parts = STAMP.matcher(value);
            return parts.matches() ? new Stamp(parts.group(1), Long.parseLong(parts.group(2)), parts.group(3)) : null;
        }
    }

    /// The parts of an object, or null if it has none: it is a blob, a tree, too large, or without an empty line.
    static @Nullable Annotated of(GitObject object) {
        boolean has = object.type() == GitObject.Type.COMMIT || object.type() == GitObject.Type.TAG;
        String text = has && object.length() <= OCTETS_MAX ? object.text() : "";
        int end = text.indexOf("\n\n");
        if (end < 0 || text.substring(0, end).lines().skip(LINES_MAX).findAny().isPresent()) {
            return null;
        }
        var header = new ArrayList<Line>();
        for (String line : text.substring(0, end).split("\n", -1)) {
            header.add(Line.of(line));
        }
        return new Annotated(object.type(), List.copyOf(header), text.substring(end + 1));
    }

    /// A digest of what it says without ids and times: the same for two that may stand for each other.
    String alike() {
        var all = new StringBuilder(type.name());
        for (Line line : header) {
            all.append('\n').append(line.alike());
        }
        all.append('\n').append(ID.matcher(message).replaceAll("id"));
        return Hash.sha256(all.toString().getBytes(StandardCharsets.UTF_8)).toString();
    }

    /// The last time in its header, or 0.
    long madeSeconds() {
        long seconds = 0;
        for (Line line : header) {
            seconds = line.stamp() == null ? seconds : line.stamp().seconds();
        }
        return seconds;
    }
}
