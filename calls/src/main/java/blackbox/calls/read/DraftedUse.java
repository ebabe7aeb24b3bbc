package blackbox.calls.read;

import blackbox.calls.Arguments;
import blackbox.calls.ToolUse;
import blackbox.calls.json.CanonicalText;
import blackbox.calls.json.Json;
import org.jspecify.annotations.Nullable;

/// What is known of a tool use so far.
final class DraftedUse {
    /// Characters of the arguments that are kept of one tool use.
    static final int ARGUMENTS_CHARS_MAX = 1 << 16;

    /// Characters of all arguments of a response that are kept.
    static final int ALL_ARGUMENTS_CHARS_MAX = 1 << 20;

    /// How much room is left for the arguments of a response.
    static final class Room {
        private int left = ALL_ARGUMENTS_CHARS_MAX;
    }

    private final long index;
    private final Room room;
    private String type;
    private @Nullable String id;
    private @Nullable String name;
    private @Nullable StringBuilder text;
    private boolean cut;
    private boolean complete;
    private long endOffset;

    DraftedUse(long index, String type, Room room) {
        this.index = index;
        this.type = type;
        this.room = room;
    }

    DraftedUse named(@Nullable String givenId, @Nullable String givenName) {
        id = givenId == null || givenId.isEmpty() ? id : givenId;
        name = givenName == null || givenName.isEmpty() ? name : givenName;
        return this;
    }

    DraftedUse type(@Nullable String given) {
        type = given == null ? type : given;
        return this;
    }

    /// A piece of its arguments.
    DraftedUse piece(@Nullable String piece, boolean pieceCut) {
        if (piece != null) {
            StringBuilder joined = text == null ? new StringBuilder() : text;
            text = joined;
            int count = Math.min(piece.length(), Math.min(room.left, ARGUMENTS_CHARS_MAX - joined.length()));
            if (!cut) {
                joined.append(piece, 0, count);
                room.left -= count;
            }
            cut |= pieceCut || count < piece.length();
        }
        return this;
    }

    /// A member that is its arguments, or a piece of them: text, or JSON that was kept whole.
    DraftedUse piece(@Nullable Json arguments) {
        return switch (arguments) {
            case Json.Text(String piece, boolean pieceCut) -> piece(piece, pieceCut);
            case Json.Whole(Json.Text(String piece, boolean _), boolean pieceCut) -> piece(piece, pieceCut);
            case Json.Whole(Json.Null _, boolean _) -> this;
            case Json.Whole(Json value, boolean valueCut) -> piece(CanonicalText.of(value), valueCut);
            case null, default -> this;
        };
    }

    /// All of its arguments at once, instead of the pieces so far.
    DraftedUse all(@Nullable Json arguments) {
        if (arguments != null) {
            room.left += text == null ? 0 : text.length();
            text = null;
            cut = false;
            piece(arguments);
        }
        return this;
    }

    /// There was more of it up to here.
    DraftedUse until(long offset) {
        endOffset = offset;
        return this;
    }

    void complete() {
        complete = true;
    }

    ToolUse build() {
        return new ToolUse(index, type, id, name, arguments(), complete, endOffset);
    }

    private @Nullable Arguments arguments() {
        if (text == null || text.isEmpty()) {
            return null;
        }
        String joined = text.toString();
        String canonical = cut ? null : CanonicalText.of(joined, ARGUMENTS_CHARS_MAX);
        return new Arguments(canonical == null ? joined : canonical, cut);
    }
}
