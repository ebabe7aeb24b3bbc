package blackbox.query.why;

import blackbox.query.answer.ShownCommand;
import blackbox.schemas.event.Kind;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// An event on the way from what happened to why.
///
/// @param role what it is there
/// @param event which it is
/// @param what its main values
/// @param process the number of its process, or null
/// @param id of a tool use, or of a model's answer
/// @param name of a tool, or of a model
public record Step(
        Role role,
        Event event,
        String what,
        @Nullable Long process,
        @Nullable String id,
        @Nullable String name) {

    /// An event of the run.
    ///
    /// @param atNs when it was, in nanoseconds since 1970
    public record Event(String kind, long index, long atNs) {}

    private static final int WHAT_CHARS_MAX = 160;

    /// What an event is on that way.
    public enum Role {
        /// What was asked about.
        EVENT("event", ""),
        /// The start of the process that did it, or of one from which that descends.
        PROCESS("process", "by"),
        /// What a model asked for.
        TOOL("tool", "for"),
        /// The call of the model whose answer asked for it.
        CALL("call", "asked for by"),
        /// What had been asked for before and whose result that call brought.
        RESULT("result", "given the result of");

        private final String word;
        private final String before;

        Role(String word, String before) {
            this.word = word;
            this.before = before;
        }

        String word() {
            return word;
        }

        /// What stands before it in a text.
        String before() {
            return before;
        }
    }

    static Step tool(Role role, ToolUse tool) {
        return new Step(
                role,
                new Event(Kind.LLM_TOOL.eventName(), tool.index, tool.turn.atNs),
                asked(tool),
                null,
                tool.id,
                tool.name);
    }

    static Step call(ModelTurn turn) {
        return new Step(
                Role.CALL,
                new Event(Kind.LLM_CALL.eventName(), turn.index, turn.atNs),
                turn.model.name() + " at " + turn.exchange.host(),
                turn.holder == null ? null : (Long) turn.holder.process().pid(),
                turn.model.response(),
                turn.model.name());
    }

    /// What a tool was asked to do, in short.
    static String asked(ToolUse tool) {
        Wanted wanted = tool.wanted;
        String first = Stream.of(
                        wanted.commands(),
                        wanted.argvs().stream()
                                .map(argv -> String.join(" ", argv))
                                .toList(),
                        wanted.paths(),
                        wanted.hosts())
                .flatMap(each -> each.stream().limit(1))
                .findFirst()
                .orElse(tool.arguments == null ? "" : tool.arguments);
        String name = tool.name == null ? "?" : tool.name;
        return (name + "  " + ShownCommand.of(List.of(first), WHAT_CHARS_MAX)).strip();
    }
}
