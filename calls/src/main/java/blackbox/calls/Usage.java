package blackbox.calls;

import org.jspecify.annotations.Nullable;

/// The tokens of a call, as the provider counts them; null is what the response does not say.
///
/// As OpenTelemetry defines them: cached tokens are part of the input, those of reasoning part of the output. Where a
/// provider counts them beside each other, they are added up here.
///
/// @param inputTokens `gen_ai.usage.input_tokens`
/// @param outputTokens `gen_ai.usage.output_tokens`
/// @param cacheReadTokens `gen_ai.usage.cache_read.input_tokens`
/// @param cacheCreationTokens `gen_ai.usage.cache_creation.input_tokens`
/// @param reasoningTokens `gen_ai.usage.reasoning.output_tokens`
public record Usage(
        @Nullable Long inputTokens,
        @Nullable Long outputTokens,
        @Nullable Long cacheReadTokens,
        @Nullable Long cacheCreationTokens,
        @Nullable Long reasoningTokens) {
    /// Nothing is known.
    public static final Usage UNKNOWN = new Usage(null, null, null, null, null);
}
