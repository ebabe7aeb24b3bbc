package blackbox.policy.text;

import java.util.List;

/// A node of a YAML document.
sealed interface Node {
    Place place();

    /// What it is, for people.
    String kind();

    /// A mapping; its keys are texts, each once.
    record Mapping(Place place, List<Entry> entries) implements Node {
        public Mapping {
            entries = List.copyOf(entries);
        }

        @Override
        public String kind() {
            return "a mapping";
        }
    }

    record Entry(String key, Place place, Node value) {}

    record Sequence(Place place, List<Node> items) implements Node {
        public Sequence {
            items = List.copyOf(items);
        }

        @Override
        public String kind() {
            return "a list";
        }
    }

    /// @param isPlain whether it was written without quotes, so that it may be a number or a word such as
    ///     `true`
    record Scalar(Place place, String text, boolean isPlain) implements Node {
        private static final int SHOWN_MAX = 80;

        @Override
        public String kind() {
            return !isPlain || text.length() > SHOWN_MAX ? "a text" : "'" + text + "'";
        }

        boolean isNumber() {
            return isPlain && text.matches("[-+]?(\\.[0-9]+|[0-9]+(\\.[0-9]*)?)([eE][-+]?[0-9]+)?|0[xo][0-9a-fA-F]+");
        }

        /// Whether YAML's core schema (YAML 1.2.2, section 10.3.2) gives a text.
        boolean isText() {
            return !isNumber()
                    && !(isPlain
                            && text.matches("|~|null|Null|NULL|true|True|TRUE|false|False|FALSE"
                                    + "|[-+]?\\.(inf|Inf|INF)|\\.(nan|NaN|NAN)"));
        }
    }
}
