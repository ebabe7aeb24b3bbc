package blackbox.policy.text;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.common.ScalarStyle;
import org.snakeyaml.engine.v2.events.AliasEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.MappingStartEvent;
import org.snakeyaml.engine.v2.events.NodeEvent;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.events.SequenceStartEvent;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/// Reads one YAML 1.2 document into nodes that know their places. Tags, anchors and aliases, which a policy has
/// no use for, are refused, as are keys that occur twice; nothing is constructed from what the document names.
final class YamlReader {

    private static final int DEPTH_MAX = 16;

    private final int octetsMax;
    private final Deque<Open> open = new ArrayDeque<>();
    private @Nullable Node root;
    private Place last = new Place(1, 1);

    /// A mapping or list whose end has not come yet.
    private static final class Open {
        final Place place;
        final boolean isMapping;
        final List<Node> items = new ArrayList<>();
        final List<Node.Entry> entries = new ArrayList<>();
        final Set<String> keys = new HashSet<>();
        Node.@Nullable Scalar key;

        Open(Place place, boolean isMapping) {
            this.place = place;
            this.isMapping = isMapping;
        }
    }

    /// @param octetsMax the longest text that is read
    YamlReader(int octetsMax) {
        this.octetsMax = octetsMax;
    }

    Node read(byte[] octets) throws PolicyException {
        if (octets.length > octetsMax) {
            throw refused(new Place(1, 1), "the text is longer than " + octetsMax + " octets");
        }
        var settings = LoadSettings.builder()
                .setLabel("policy")
                .setUseMarks(true)
                .setCodePointLimit(octetsMax)
                .build();
        try {
            for (Event event : new Parse(settings).parseString(text(octets))) {
                take(event);
            }
        } catch (MarkedYamlEngineException e) {
            Place place = e.getProblemMark().map(YamlReader::place).orElse(new Place(1, 1));
            throw refused(place, "this is no YAML: " + e.getProblem());
        } catch (NumberFormatException _) {
            // What the parser throws at an escape of eight digits whose number is no Java int.
            throw refused(last, "this is no YAML: after here, an escape in a text (\\U) is no character");
        } catch (YamlEngineException e) {
            throw refused(new Place(1, 1), "this is no YAML: " + firstLine(e));
        }
        if (root == null) {
            throw refused(new Place(1, 1), "there is no policy in the text; it begins with version: 1");
        }
        return root;
    }

    private static String firstLine(Exception e) {
        return String.valueOf(e.getMessage()).lines().findFirst().orElse("");
    }

    private static String text(byte[] octets) throws PolicyException {
        try {
            return shown(StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(octets))
                    .toString());
        } catch (CharacterCodingException _) {
            throw refused(new Place(1, 1), "the text is not UTF-8");
        }
    }

    /// A text in which nothing looks other than it is read, in comments neither.
    private static String shown(String text) throws PolicyException {
        int line = 1;
        int begin = 0;
        for (int at = 0; at < text.length(); at++) {
            char c = text.charAt(at);
            boolean isReturn = c == '\r' && (at + 1 == text.length() || text.charAt(at + 1) != '\n');
            boolean isMark = c == '\ufeff' && at == 0;
            if (isReturn || c == '\u0085' || c > 0x7f && !isMark && Fields.isHidden(c) && !Character.isSurrogate(c)) {
                throw refused(
                        new Place(line, at - begin + 1),
                        "the character U+%04X does not show, or moves what is around it".formatted((int) c));
            }
            if (c == '\n') {
                line++;
                begin = at + 1;
            }
        }
        return text;
    }

    private void take(Event event) throws PolicyException {
        Place place = event.getStartMark().map(YamlReader::place).orElse(last);
        last = place;
        if (event instanceof AliasEvent) {
            throw refused(place, "aliases (*NAME) are not used in a policy; repeat the value");
        }
        if (event instanceof NodeEvent node && node.getAnchor().isPresent()) {
            throw refused(place, "anchors (&NAME) are not used in a policy; repeat the value where it is needed");
        }
        switch (event) {
            case ScalarEvent scalar -> {
                tagless(place, scalar.getTag());
                add(new Node.Scalar(place, scalar.getValue(), scalar.getScalarStyle() == ScalarStyle.PLAIN));
            }
            case MappingStartEvent mapping -> {
                tagless(place, mapping.getTag());
                begin(new Open(place, true));
            }
            case SequenceStartEvent sequence -> {
                tagless(place, sequence.getTag());
                begin(new Open(place, false));
            }
            default -> {
                switch (event.getEventId()) {
                    case MappingEnd -> {
                        Open ended = open.pop();
                        add(new Node.Mapping(ended.place, ended.entries));
                    }
                    case SequenceEnd -> {
                        Open ended = open.pop();
                        add(new Node.Sequence(ended.place, ended.items));
                    }
                    case DocumentStart -> {
                        if (root != null) {
                            throw refused(place, "a policy is one document; remove what follows ---");
                        }
                    }
                    default -> {}
                }
            }
        }
    }

    private static void tagless(Place place, Optional<String> tag) throws PolicyException {
        if (tag.isPresent()) {
            throw refused(place, "tags (" + tag.get() + ") are not used in a policy; remove it");
        }
    }

    private void begin(Open began) throws PolicyException {
        Open parent = open.peek();
        if (parent != null && parent.isMapping && parent.key == null) {
            throw refused(began.place, "a key is a word, not a mapping or a list");
        }
        if (open.size() >= DEPTH_MAX) {
            throw refused(began.place, "lists and mappings are nested deeper than " + DEPTH_MAX);
        }
        open.push(began);
    }

    private void add(Node node) throws PolicyException {
        Open parent = open.peek();
        if (parent == null) {
            root = node;
        } else if (!parent.isMapping) {
            parent.items.add(node);
        } else if (parent.key == null && node instanceof Node.Scalar key) {
            if (!parent.keys.add(key.text())) {
                throw refused(key.place(), "the key '" + key.text() + "' occurs twice; join the two");
            }
            parent.key = key;
        } else if (parent.key != null) {
            parent.entries.add(new Node.Entry(parent.key.text(), parent.key.place(), node));
            parent.key = null;
        }
    }

    private static Place place(Mark mark) {
        return new Place(mark.getLine() + 1, mark.getColumn() + 1);
    }

    private static PolicyException refused(Place place, String what) {
        return new PolicyException(List.of(new Problem(place, what)));
    }
}
