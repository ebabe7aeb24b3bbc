package blackbox.query.why;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// What ties the calls of a whole run together: of each tool use when it can have run, which call brought its
/// result, and how much speaks for what followed from it; and which calls were made from within a tool.
///
/// @param tools by the index of the `llm.tool`, in the order of the record; of what followed from one only the first
///     few of each sort are listed
/// @param within by the index of an `llm.call` or `mcp.call`, the tool from within which it was made
/// @param limits in sentences, what may be missing
public record CallTies(Map<Long, Caused.OfTool> tools, Map<Long, Within> within, List<String> limits) {

    public CallTies {
        tools = Collections.unmodifiableMap(new LinkedHashMap<>(tools));
        within = Map.copyOf(within);
        limits = List.copyOf(limits);
    }

    /// A call was made by what a tool had started, or is what the tool was asked to do.
    ///
    /// @param tool the index of the `llm.tool`
    /// @param grade A or B: what only its time speaks for is not said
    public record Within(long tool, Grade grade) {}

    /// The tool uses that each call asked for, by the index of the `llm.call`.
    public Map<Long, List<Caused.OfTool>> asked() {
        return by(false);
    }

    /// The tool uses whose results each call brought, by the index of the `llm.call`.
    public Map<Long, List<Caused.OfTool>> brought() {
        return by(true);
    }

    private Map<Long, List<Caused.OfTool>> by(boolean result) {
        var by = new HashMap<Long, List<Caused.OfTool>>();
        for (Caused.OfTool tool : tools.values()) {
            Long call = result ? tool.used().broughtBy() : (Long) tool.used().call();
            add(by, call, tool);
        }
        return by;
    }

    private static void add(Map<Long, List<Caused.OfTool>> by, @Nullable Long call, Caused.OfTool tool) {
        if (call != null) {
            by.computeIfAbsent(call, _ -> new ArrayList<>(1)).add(tool);
        }
    }
}
