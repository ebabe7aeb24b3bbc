package blackbox.calls;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// A model was called.
///
/// @param api whose paths and bodies the exchange has; whoever answers may be someone else
public record ModelCall(Api api, Request request, Response response, List<String> notRead) implements Call {
    public ModelCall {
        notRead = List.copyOf(notRead);
    }

    /// What was asked. OpenTelemetry's `gen_ai.request.*`.
    ///
    /// @param model `gen_ai.request.model`, from the body or, where the API has it there, from the path
    /// @param stream whether a stream was asked for; null if the request does not say
    /// @param messages of the conversation that the request carries; null if it has no such list
    /// @param toolResults ids of the tool uses that the request answers, the latest at the end: of the whole
    ///     conversation where the API has it sent anew each time. Google's older models give names instead of ids
    /// @param toolResultsLeftOff how many older ones are not among them
    public record Request(
            @Nullable String model,
            @Nullable Boolean stream,
            @Nullable Long messages,
            List<String> toolResults,
            long toolResultsLeftOff) {
        public Request {
            toolResults = List.copyOf(toolResults);
        }
    }

    /// What was answered. OpenTelemetry's `gen_ai.response.*`.
    ///
    /// @param status of HTTP; 0 if there was no response
    /// @param stopReason `gen_ai.response.finish_reasons`, in the provider's own words, of its first choice
    /// @param toolUses what the model asked for, in the order in which the response names them
    /// @param toolUsesLeftOff how many more there were, or pieces of more
    /// @param complete whether the response ended as its API ends one. A stream that broke off is not complete
    /// @param octets of the body, decoded: that far offsets may go
    public record Response(
            int status,
            @Nullable String id,
            @Nullable String model,
            @Nullable String stopReason,
            Usage usage,
            List<ToolUse> toolUses,
            long toolUsesLeftOff,
            @Nullable CallError error,
            boolean complete,
            long octets) {
        public Response {
            toolUses = List.copyOf(toolUses);
        }
    }
}
