package blackbox.calls;

/// The API of a model, by what its requests look like.
public enum Api {
    /// `POST …/v1/messages`
    ANTHROPIC_MESSAGES("anthropic"),
    /// `POST …/chat/completions`, as OpenAI, vLLM and many others serve it
    OPENAI_CHAT("openai"),
    /// `POST …/responses`
    OPENAI_RESPONSES("openai"),
    /// `POST …/models/MODEL:generateContent` and `:streamGenerateContent`
    GOOGLE_GENERATE_CONTENT("gcp.gen_ai"),
    /// `POST /model/MODEL/invoke` and `/invoke-with-response-stream`, whose bodies are the model's own
    BEDROCK_INVOKE("aws.bedrock"),
    /// `POST /model/MODEL/converse` and `/converse-stream`
    BEDROCK_CONVERSE("aws.bedrock"),
    /// `POST …/api/chat`
    OLLAMA_CHAT("ollama"),
    /// `POST …/api/generate`
    OLLAMA_GENERATE("ollama");

    private final String provider;

    Api(String provider) {
        this.provider = provider;
    }

    /// OpenTelemetry's `gen_ai.provider.name`: which format it is, not whose host answered. `ollama` is not among
    /// its names.
    public String provider() {
        return provider;
    }
}
