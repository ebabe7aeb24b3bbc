package blackbox.query.calls;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// Tokens as a provider counts them; null is what it did not say. Cached tokens are part of the input, those of
/// reasoning part of the output.
public record Tokens(
        @Nullable Long input,
        @Nullable Long output,
        @Nullable Long cacheRead,
        @Nullable Long cacheCreation,
        @Nullable Long reasoning) {

    /// Nothing was said.
    public static final Tokens UNKNOWN = new Tokens(null, null, null, null, null);

    /// Those in the detail of an `llm.call`.
    public static Tokens of(JsonNode detail) {
        return new Tokens(
                count(detail, "inputTokens"),
                count(detail, "outputTokens"),
                count(detail, "cacheReadTokens"),
                count(detail, "cacheCreationTokens"),
                count(detail, "reasoningTokens"));
    }

    /// A whole number from 0; what is beyond 2^63-1 counts as not said.
    private static @Nullable Long count(JsonNode detail, String name) {
        JsonNode value = detail.path(name);
        return value.isIntegralNumber() && value.canConvertToLong() && value.longValue() >= 0
                ? (Long) value.longValue()
                : null;
    }

    /// Both together; what one of them says, where the other says nothing.
    Tokens plus(Tokens other) {
        return new Tokens(
                sum(input, other.input),
                sum(output, other.output),
                sum(cacheRead, other.cacheRead),
                sum(cacheCreation, other.cacheCreation),
                sum(reasoning, other.reasoning));
    }

    private static @Nullable Long sum(@Nullable Long a, @Nullable Long b) {
        if (a == null || b == null) {
            return a == null ? b : a;
        }
        long sum = a + b;
        return sum < 0 ? Long.MAX_VALUE : sum;
    }

    void writeFields(JsonGenerator out) throws IOException {
        write(out, "inputTokens", input);
        write(out, "outputTokens", output);
        write(out, "cacheReadTokens", cacheRead);
        write(out, "cacheCreationTokens", cacheCreation);
        write(out, "reasoningTokens", reasoning);
    }

    private static void write(JsonGenerator out, String name, @Nullable Long count) throws IOException {
        if (count == null) {
            out.writeNullField(name);
        } else {
            out.writeNumberField(name, count);
        }
    }

    /// `1200 tokens in (800 cached), 34 out`.
    String words() {
        return (input == null ? "?" : input) + " tokens in"
                + (cacheRead == null || cacheRead == 0 ? "" : " (" + cacheRead + " from a cache)") + ", "
                + (output == null ? "?" : output) + " out";
    }
}
