package blackbox.policy.host;

/// Which names a rule is about: one name; `*.NAME`, names with exactly one label before it; `**.NAME`, names
/// with one or more labels before it; or `**`, every name. A wildcard never stands for the name itself:
/// `*.a.example` and `**.a.example` both leave out `a.example`.
///
/// @param suffix what a name ends with; empty only for every name
public record HostPattern(Wildcard wildcard, String suffix) {

    /// What stands before the suffix.
    public enum Wildcard {
        NONE(""),
        LABEL("*."),
        LABELS("**.");

        private final String written;

        Wildcard(String written) {
            this.written = written;
        }
    }

    /// Every name.
    public static final HostPattern EVERY = new HostPattern(Wildcard.LABELS, "");

    /// Reads a pattern as people write it.
    ///
    /// @throws IllegalArgumentException with a clause that says why it is none
    public static HostPattern parse(String text) {
        if (text.equals("**")) {
            return EVERY;
        }
        Wildcard wildcard =
                text.startsWith("**.") ? Wildcard.LABELS : text.startsWith("*.") ? Wildcard.LABEL : Wildcard.NONE;
        String name = text.substring(wildcard.written.length());
        if (name.contains("*")) {
            throw new IllegalArgumentException(
                    "a wildcard stands only for whole labels at the beginning: *.NAME for one label, **.NAME for one or"
                            + " more");
        }
        return new HostPattern(wildcard, HostName.ofUnicode(name).text());
    }

    /// Whether it takes in names under a whole top-level domain, or all names.
    public boolean isWide() {
        return wildcard != Wildcard.NONE && !suffix.contains(".");
    }

    public boolean matches(HostName name) {
        String text = name.text();
        return switch (wildcard) {
            case NONE -> text.equals(suffix);
            case LABEL -> text.endsWith("." + suffix) && text.indexOf('.') == text.length() - suffix.length() - 1;
            case LABELS -> suffix.isEmpty() || text.endsWith("." + suffix);
        };
    }

    /// Whether it matches all names that `other` matches.
    public boolean covers(HostPattern other) {
        return switch (other.wildcard) {
            case NONE -> matches(new HostName(other.suffix));
            case LABEL -> equals(other) || wildcard == Wildcard.LABELS && suffix.equals(other.suffix) || isAbove(other);
            case LABELS -> equals(other) || isAbove(other);
        };
    }

    /// Whether there is a name that both match.
    public boolean overlaps(HostPattern other) {
        if (wildcard == Wildcard.NONE) {
            return other.matches(new HostName(suffix));
        }
        if (other.wildcard == Wildcard.NONE) {
            return other.overlaps(this);
        }
        return suffix.equals(other.suffix) || isAbove(other) || other.isAbove(this);
    }

    /// Whether names of this pattern can end with all that names of `other` end with.
    private boolean isAbove(HostPattern other) {
        return wildcard == Wildcard.LABELS && (suffix.isEmpty() || other.suffix.endsWith("." + suffix));
    }

    @Override
    public String toString() {
        return suffix.isEmpty() ? "**" : wildcard.written + suffix;
    }
}
