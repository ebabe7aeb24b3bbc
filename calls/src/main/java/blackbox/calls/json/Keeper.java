package blackbox.calls.json;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/// Keeps of a stream of tokens what a [Shape] asks for.
final class Keeper {
    /// Values that are kept of one value, or of one that is handed over.
    static final int VALUES_MAX = 16_384;

    /// Characters of their strings.
    static final int CHARS_MAX = 1 << 20;

    private static final Shape INSIDE = Shape.whole(1);

    /// An object or list that is open.
    private static final class Frame {
        final Shape shape;
        final Json container;
        final boolean wholeBegins;
        String name = "";
        long elements;
        int valuesBefore;
        int charsBefore;

        Frame(Shape shape, Json container, boolean wholeBegins) {
            this.shape = shape;
            this.container = container;
            this.wholeBegins = wholeBegins;
        }
    }

    private final Shape root;
    private final JsonReader.Sink sink;
    private final Deque<Frame> open = new ArrayDeque<>();
    private int skipDepth;
    private int values;
    private int chars;
    private boolean inWhole;
    private boolean wholeCut;
    private int wholeLeft;

    Keeper(Shape root, JsonReader.Sink sink) {
        this.root = root;
        this.sink = sink;
    }

    boolean inValue() {
        return skipDepth > 0 || !open.isEmpty();
    }

    void take(JsonToken token, JsonParser parser, long end) throws IOException {
        if (skipDepth > 0) {
            skipDepth += token.isStructStart() ? 1 : token.isStructEnd() ? -1 : 0;
            return;
        }
        switch (token) {
            case FIELD_NAME -> open.element().name = parser.currentName();
            case START_OBJECT -> start(new Json.Obj());
            case START_ARRAY -> start(new Json.Arr());
            case END_OBJECT, END_ARRAY -> close(end);
            case VALUE_STRING ->
                scalar(new Json.Text(parser.getText(), parser.getTextLength() >= StringClipper.CHARS_KEPT), end);
            case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> scalar(new Json.Num(parser.getText()), end);
            case VALUE_TRUE -> scalar(new Json.Bool(true), end);
            case VALUE_FALSE -> scalar(new Json.Bool(false), end);
            case VALUE_NULL -> scalar(Json.Null.NULL, end);
            case NOT_AVAILABLE, VALUE_EMBEDDED_OBJECT -> throw new IllegalStateException("token " + token);
        }
    }

    /// The shape of the value that begins now; null if nothing of it is kept.
    private @Nullable Shape begin() {
        Frame parent = open.peek();
        if (parent == null) {
            values = 0;
            chars = 0;
            return root;
        }
        if (parent.container instanceof Json.Arr && parent.shape.handedOver() != null) {
            parent.valuesBefore = values;
            parent.charsBefore = chars;
        }
        parent.elements++;
        Shape shape = inWhole
                ? INSIDE
                : parent.container instanceof Json.Obj
                        ? parent.shape.members().get(parent.name)
                        : parent.shape.element();
        return shape == null || full(parent) ? null : shape;
    }

    /// Whether there is no room for another value.
    private boolean full(Frame parent) {
        if (inWhole) {
            wholeLeft -= parent.name.length() + 2;
            wholeCut |= wholeLeft <= 0;
            return wholeLeft <= 0;
        }
        if (values < VALUES_MAX && chars < CHARS_MAX) {
            values++;
            return false;
        }
        sink.remark("a part of the JSON has more values than are kept");
        return true;
    }

    private void start(Json container) {
        Shape shape = begin();
        if (shape == null) {
            skipDepth = 1;
            return;
        }
        boolean wholeBegins = beginWhole(shape);
        open.push(new Frame(shape, container, wholeBegins));
    }

    private void close(long end) {
        Frame frame = open.pop();
        put(frame.wholeBegins ? endWhole(frame.container) : frame.container, end);
    }

    private void scalar(Json value, long end) {
        Shape shape = begin();
        if (shape == null) {
            return;
        }
        boolean wholeBegins = beginWhole(shape);
        Json kept = value;
        if (value instanceof Json.Text text) {
            int room = inWhole ? wholeLeft : Math.min(shape.textCharsMax(), CHARS_MAX - chars);
            Json.Text part = cut(text, room);
            wholeCut |= part.cut();
            if (part.cut() && !inWhole && shape.textCharsMax() > 1) {
                sink.remark("a text was longer than the " + shape.textCharsMax() + " characters that are kept");
            }
            spend(part.value().length());
            kept = part;
        } else if (value instanceof Json.Num(String digits)) {
            spend(digits.length());
        }
        if (wholeBegins) {
            put(endWhole(kept), end);
        } else if (inWhole || shape.textCharsMax() > 0 || !(kept instanceof Json.Text)) {
            put(kept, end);
        }
    }

    private void spend(int charsOfIt) {
        if (inWhole) {
            wholeLeft -= charsOfIt;
        } else {
            chars += charsOfIt;
        }
    }

    private boolean beginWhole(Shape shape) {
        if (inWhole || shape.wholeCharsMax() == 0) {
            return false;
        }
        inWhole = true;
        wholeCut = false;
        wholeLeft = Math.min(shape.wholeCharsMax(), CHARS_MAX - chars);
        chars += wholeLeft;
        return true;
    }

    private Json.Whole endWhole(Json value) {
        inWhole = false;
        chars -= Math.max(0, wholeLeft);
        return new Json.Whole(value, wholeCut);
    }

    private void put(Json value, long end) {
        Frame parent = open.peek();
        if (parent == null) {
            sink.value(value, end);
            return;
        }
        String handedOver = inWhole ? null : parent.shape.handedOver();
        if (parent.container instanceof Json.Obj(var members)) {
            if (members.put(parent.name, value) != null) {
                sink.ambiguous("an object has a member twice; the last is taken");
            }
        } else if (handedOver != null) {
            values = parent.valuesBefore;
            chars = parent.charsBefore;
            sink.element(handedOver, value, parent.elements - 1, end);
        } else if (parent.container instanceof Json.Arr(var elements)) {
            elements.add(value);
        }
    }

    /// The beginning of a text, which does not end within a surrogate pair.
    static Json.Text cut(Json.Text text, int charsMax) {
        String value = text.value();
        if (value.length() <= charsMax) {
            return text;
        }
        int end = charsMax > 0 && Character.isHighSurrogate(value.charAt(charsMax - 1)) ? charsMax - 1 : charsMax;
        return new Json.Text(value.substring(0, Math.max(0, end)), true);
    }
}
