package blackbox.query.why;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A call of a model. What joins it to others is filled in when all are known.
final class ModelTurn {

    final long index;
    final long atNs;
    final Exchange exchange;
    final Model model;

    /// Ids of tool uses, as the event has them.
    final List<String> results;

    /// What its answer asked for.
    final List<ToolUse> tools = new ArrayList<>();

    /// The tool uses whose results it brought.
    final List<ToolUse> brought = new ArrayList<>();

    /// Who held its connection; null if that is not known.
    Connections.@Nullable Holder holder;

    ModelTurn(long index, long atNs, Exchange exchange, Model model, List<String> results) {
        this.index = index;
        this.atNs = atNs;
        this.exchange = exchange;
        this.model = model;
        this.results = List.copyOf(results);
    }

    /// The HTTP exchange that it was.
    ///
    /// @param number in its connection
    /// @param askedNs when the head of the request had come
    record Exchange(Connections.@Nullable Ends ends, long number, String host, long askedNs) {
        boolean isSame(Connections.@Nullable Ends otherEnds, long otherNumber) {
            return ends != null && ends.equals(otherEnds) && number == otherNumber;
        }
    }

    /// What answered.
    ///
    /// @param name as the answer names it, or else as it was asked for
    /// @param response the answer's id
    record Model(String name, String api, @Nullable String response) {}
}
