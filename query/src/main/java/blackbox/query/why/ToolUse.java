package blackbox.query.why;

import blackbox.schemas.view.ProcessId;
import org.jspecify.annotations.Nullable;

/// A tool that a model asked for. What it waits for is filled in when all calls are known.
final class ToolUse {

    final long index;
    final ModelTurn turn;
    final @Nullable String id;
    final @Nullable String name;
    final Wanted wanted;
    final @Nullable String arguments;
    final long wholeNs;

    /// When it ran.
    Window window;

    /// The call that brought its result, if there is one.
    @Nullable
    ModelTurn broughtBy;

    /// The process below which it ran: the one that asked or, if another one brought the result, what
    /// started both.
    @Nullable
    ProcessId root;

    /// Whether that is the process that held the connection on which it was asked for.
    boolean rootAsked;

    /// Whether others have the same id.
    boolean repeated;

    ToolUse(long index, ModelTurn turn, @Nullable String id, @Nullable String name, Arguments given, long wholeNs) {
        this.index = index;
        this.turn = turn;
        this.id = id;
        this.name = name;
        this.wanted = given.wanted;
        this.arguments = given.text;
        this.wholeNs = wholeNs;
        this.window = new Window(wholeNs, Long.MAX_VALUE, Window.End.NO_RESULT);
    }

    /// What it was given.
    ///
    /// @param text as it is in the event, if it is short enough to be compared with a call of an MCP server
    record Arguments(Wanted wanted, @Nullable String text) {}

    /// Its id or, of APIs without ids, its name.
    String key() {
        return id != null ? id : name != null ? name : "";
    }

    boolean hasResult() {
        return window.end() == Window.End.RESULT || window.end() == Window.End.BEFORE_ASKED;
    }
}
