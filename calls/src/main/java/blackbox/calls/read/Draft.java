package blackbox.calls.read;

import blackbox.calls.Api;
import blackbox.calls.CallError;
import blackbox.calls.ModelCall;
import blackbox.calls.Usage;
import blackbox.calls.json.Json;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// What is known of a model call so far.
final class Draft {
    /// How many ids of answered tool uses are kept.
    static final int TOOL_RESULTS_MAX = 1024;

    /// How many tool uses of one response are kept.
    static final int TOOL_USES_MAX = 256;

    private final Api api;
    private final Notes notes;
    private final Deque<String> toolResults = new ArrayDeque<>();
    private final Map<String, DraftedUse> toolUses = new LinkedHashMap<>();
    private final DraftedUse.Room room = new DraftedUse.Room();
    private long toolResultsLeftOff;
    private long toolUsesLeftOff;
    private @Nullable Long messages;
    private @Nullable Boolean stream;
    private @Nullable String requestModel;
    private @Nullable String responseId;
    private @Nullable String responseModel;
    private @Nullable String stopReason;
    private @Nullable CallError error;
    private boolean complete;
    private final Counts counts = new Counts();

    Draft(Api api, Notes notes) {
        this.api = api;
        this.notes = notes;
    }

    Notes notes() {
        return notes;
    }

    Counts counts() {
        return counts;
    }

    @Nullable
    String requestModel() {
        return requestModel;
    }

    void requestModel(@Nullable String model) {
        requestModel = model == null ? requestModel : model;
    }

    void stream(@Nullable Json asked) {
        if (asked instanceof Json.Bool(boolean yes)) {
            stream = yes;
        }
    }

    void stream(@Nullable Boolean asked) {
        stream = asked;
    }

    void message() {
        messages = messages == null ? 1 : messages + 1;
    }

    void toolResult(@Nullable String id) {
        if (id == null || id.isEmpty()) {
            return;
        }
        if (toolResults.size() == TOOL_RESULTS_MAX) {
            toolResults.removeFirst();
            toolResultsLeftOff++;
        }
        toolResults.addLast(id);
    }

    void response(@Nullable String id, @Nullable String model) {
        responseId = id == null ? responseId : id;
        responseModel = model == null ? responseModel : model;
    }

    void stopReason(@Nullable String reason) {
        stopReason = reason == null ? stopReason : reason;
    }

    boolean stopped() {
        return stopReason != null;
    }

    void error(@Nullable String type, @Nullable String message) {
        if (error == null && (type != null || message != null)) {
            error = new CallError(type, message);
        }
    }

    /// The type of an error that the body only has a message of.
    void errorType(String type) {
        error = new CallError(
                error == null || error.type() == null ? type : error.type(), error == null ? null : error.message());
    }

    boolean failed() {
        return error != null;
    }

    void complete() {
        complete = true;
    }

    /// The tool use under a key, which is made if it is new; null if there are too many.
    @Nullable
    DraftedUse toolUse(String key, long index, String type) {
        DraftedUse known = toolUses.get(key);
        if (known != null) {
            return known;
        }
        if (toolUses.size() == TOOL_USES_MAX) {
            toolUsesLeftOff++;
            notes.add("response: there are more than " + TOOL_USES_MAX + " tool uses or pieces of such");
            return null;
        }
        var use = new DraftedUse(index, type, room);
        toolUses.put(key, use);
        return use;
    }

    long toolUseCount() {
        return toolUses.size() + toolUsesLeftOff;
    }

    @Nullable
    DraftedUse knownToolUse(String key) {
        return toolUses.get(key);
    }

    /// The response says that it stopped, which ends all with such keys, as they have no end of
    /// their own.
    void endToolUses(String keyPrefix) {
        toolUses.forEach((key, use) -> {
            if (key.startsWith(keyPrefix)) {
                use.complete();
            }
        });
    }

    ModelCall build(int status, long octets) {
        Usage usage = counts.usage();
        return new ModelCall(
                api,
                new ModelCall.Request(requestModel, stream, messages, List.copyOf(toolResults), toolResultsLeftOff),
                new ModelCall.Response(
                        status,
                        responseId,
                        responseModel,
                        stopReason,
                        usage,
                        toolUses.values().stream().map(DraftedUse::build).toList(),
                        toolUsesLeftOff,
                        error,
                        complete,
                        octets),
                notes.list());
    }

    /// The tokens as a provider counts them.
    static final class Counts {
        private @Nullable Long input;
        private @Nullable Long output;
        private @Nullable Long cacheRead;
        private @Nullable Long cacheCreation;
        private @Nullable Long reasoning;
        private @Nullable Long inputBeside;
        private boolean cacheBeside;
        private boolean reasoningBeside;

        Counts input(@Nullable Long tokens) {
            input = tokens == null ? input : tokens;
            return this;
        }

        Counts output(@Nullable Long tokens) {
            output = tokens == null ? output : tokens;
            return this;
        }

        Counts cacheRead(@Nullable Long tokens) {
            cacheRead = tokens == null ? cacheRead : tokens;
            return this;
        }

        Counts cacheCreation(@Nullable Long tokens) {
            cacheCreation = tokens == null ? cacheCreation : tokens;
            return this;
        }

        Counts reasoning(@Nullable Long tokens) {
            reasoning = tokens == null ? reasoning : tokens;
            return this;
        }

        boolean unknown() {
            return input == null && output == null;
        }

        /// Input that the provider counts beside [#input].
        Counts inputBeside(@Nullable Long tokens) {
            inputBeside = tokens == null ? inputBeside : tokens;
            return this;
        }

        /// The provider does not count what is cached as [#input].
        void cacheIsBeside() {
            cacheBeside = true;
        }

        /// The provider does not count reasoning as [#output].
        void reasoningIsBeside() {
            reasoningBeside = true;
        }

        Usage usage() {
            Long in = plus(input, inputBeside);
            Long cached = cacheBeside ? plus(plus(in, cacheRead), cacheCreation) : in;
            return new Usage(
                    cached, reasoningBeside ? plus(output, reasoning) : output, cacheRead, cacheCreation, reasoning);
        }

        /// A sum of what is known, which is unknown if the first part is.
        private static @Nullable Long plus(@Nullable Long tokens, @Nullable Long more) {
            return tokens == null || more == null ? tokens : Long.valueOf(tokens + more);
        }
    }
}
