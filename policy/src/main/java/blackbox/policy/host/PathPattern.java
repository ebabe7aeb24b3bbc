package blackbox.policy.host;

import java.util.List;

/// Which paths a rule is about. Segment by segment: `*` in a segment stands for any characters of that segment,
/// a segment that is `*` for one that is not empty, and a segment that is `**` for one or more segments of any
/// kind, the empty one after a final slash included.
///
/// @param text as it is written, in the form of [RequestPath.Clean]
public record PathPattern(String text) implements Comparable<PathPattern> {

    private static final String MANY = "**";

    /// Reads a pattern.
    ///
    /// @throws IllegalArgumentException with a clause that says why it is none
    public static PathPattern parse(String text) {
        if (text.contains("?")) {
            throw new IllegalArgumentException("it has a query: rules are about what precedes the ?");
        }
        return switch (RequestPath.of(text)) {
            case RequestPath.Unsafe unsafe -> throw new IllegalArgumentException(unsafe.why());
            case RequestPath.Clean path -> {
                for (String segment : path.segments()) {
                    if (segment.contains(MANY) && !segment.equals(MANY)) {
                        throw new IllegalArgumentException("** is only ever a whole segment, as in /v1/**");
                    }
                }
                yield new PathPattern(path.text());
            }
        };
    }

    /// Whether it can match a path with an encoded slash.
    public boolean hasEncodedSlash() {
        return text.contains("%2F");
    }

    /// Takes time in proportion to the product of both lengths at most.
    public boolean matches(RequestPath.Clean path) {
        List<String> pattern = new RequestPath.Clean(text).segments();
        List<String> segments = path.segments();
        int at = 0;
        int segment = 0;
        int many = -1; // the last ** that was met: it takes one more segment when what follows does not fit
        int taken = 0;
        while (segment < segments.size()) {
            if (at < pattern.size() && pattern.get(at).equals(MANY)) {
                many = at++;
                taken = ++segment;
            } else if (at < pattern.size() && matches(pattern.get(at), segments.get(segment))) {
                at++;
                segment++;
            } else if (many >= 0) {
                at = many + 1;
                segment = ++taken;
            } else {
                return false;
            }
        }
        return at == pattern.size();
    }

    private static boolean matches(String pattern, String segment) {
        if (pattern.equals("*")) {
            return !segment.isEmpty();
        }
        int p = 0;
        int s = 0;
        int star = -1;
        int taken = 0;
        while (s < segment.length()) {
            if (p < pattern.length() && pattern.charAt(p) == '*') {
                star = p++;
                taken = s;
            } else if (p < pattern.length() && pattern.charAt(p) == segment.charAt(s)) {
                p++;
                s++;
            } else if (star >= 0) {
                p = star + 1;
                s = ++taken;
            } else {
                return false;
            }
        }
        while (p < pattern.length() && pattern.charAt(p) == '*') {
            p++;
        }
        return p == pattern.length();
    }

    @Override
    public int compareTo(PathPattern other) {
        return text.compareTo(other.text);
    }

    @Override
    public String toString() {
        return text;
    }
}
