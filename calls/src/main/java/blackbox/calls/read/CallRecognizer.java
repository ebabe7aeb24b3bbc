package blackbox.calls.read;

import blackbox.calls.Api;
import blackbox.calls.Headers;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Says which exchanges may be calls: by method, path and what the body looks like, never by the host's name, since
/// anybody may serve these APIs, and gateways of companies do.
public final class CallRecognizer {
    private static final int PATH_CHARS_MAX = 8192;
    private static final Pattern GOOGLE =
            Pattern.compile("(?:.*/models/([^/:]+)|.*/v1internal):(generateContent|streamGenerateContent)");
    private static final Pattern BEDROCK =
            Pattern.compile(".*/model/([^/]+)/(invoke|invoke-with-response-stream|converse|converse-stream)");

    private CallRecognizer() {}

    /// A reader for the calls of an exchange, or null if it is none. That there is a reader does not mean that there
    /// is a call: `POST`s of JSON to other paths may be calls of MCP, which only their bodies tell.
    ///
    /// @param path of the request's target, with or without its query
    /// @param headers of the request
    public static @Nullable CallReader of(String method, String path, Headers headers) {
        int query = path.indexOf('?');
        String plain = query < 0 ? path : path.substring(0, query);
        if (!method.equals("POST") || plain.length() > PATH_CHARS_MAX) {
            return null;
        }
        Reading reading = model(plain);
        if (reading == null && "application/json".equals(Reading.mediaType(headers.first("content-type")))) {
            reading = new McpReading(headers);
        }
        return reading == null ? null : new CallReader(reading, headers.first("content-encoding"));
    }

    private static @Nullable Reading model(String path) {
        if (path.endsWith("/v1/messages")) {
            return new ModelReading(Api.ANTHROPIC_MESSAGES, null, null);
        }
        if (path.endsWith("/chat/completions")) {
            return new ModelReading(Api.OPENAI_CHAT, null, null);
        }
        if (path.endsWith("/responses")) {
            return new ModelReading(Api.OPENAI_RESPONSES, null, null);
        }
        if (path.endsWith("/api/chat")) {
            return new ModelReading(Api.OLLAMA_CHAT, null, null);
        }
        if (path.endsWith("/api/generate")) {
            return new ModelReading(Api.OLLAMA_GENERATE, null, null);
        }
        Matcher google = GOOGLE.matcher(path);
        if (google.matches()) {
            return new ModelReading(
                    Api.GOOGLE_GENERATE_CONTENT,
                    name(google.group(1)),
                    google.group(2).startsWith("stream"));
        }
        Matcher bedrock = BEDROCK.matcher(path);
        if (bedrock.matches()) {
            String operation = bedrock.group(2);
            return new ModelReading(
                    operation.startsWith("invoke") ? Api.BEDROCK_INVOKE : Api.BEDROCK_CONVERSE,
                    name(bedrock.group(1)),
                    operation.endsWith("-stream"));
        }
        return null;
    }

    /// A segment of a path, decoded if that is possible.
    private static @Nullable String name(@Nullable String segment) {
        if (segment == null) {
            return null;
        }
        String name = segment;
        try {
            name = URLDecoder.decode(segment.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            name = segment; // it is not percent-encoded; the name is what it is
        }
        return name.substring(0, Math.min(name.length(), 2048));
    }
}
