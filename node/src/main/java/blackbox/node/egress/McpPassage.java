package blackbox.node.egress;

import blackbox.calls.rpc.RpcException;
import blackbox.calls.rpc.RpcMessage;
import blackbox.calls.rpc.RpcReader;
import blackbox.gateway.egress.Decision.Stage;
import blackbox.gateway.egress.Passage;
import blackbox.gateway.egress.RequestHead;
import blackbox.gateway.egress.Ruling;
import blackbox.gateway.egress.Verdict;
import blackbox.policy.Mode;
import blackbox.policy.decide.Decision;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.util.RawValue;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// A request to an MCP server of which only some tools may be called: nothing of it leaves before each of its messages
/// was judged. Owned by the gateway's loop.
final class McpPassage implements Passage {
    private static final int OK = 200;
    private static final int FORBIDDEN = 403;
    private static final int TOLD_MAX = 20;

    /// JSON-RPC leaves -32000 to -32099 to implementations.
    private static final int REFUSED = -32_003;

    private static final Pattern JSON =
            Pattern.compile("application/json(?:\\s*;\\s*charset=\"?utf-8\"?)?\\s*", Pattern.CASE_INSENSITIVE);
    private static final ObjectMapper WRITER = new ObjectMapper();

    private final Passage counted;
    private final RequestHead head;
    private final Mode mode;
    private final Function<RpcMessage, Decision> policy;
    private final ByteArrayOutputStream body = new ByteArrayOutputStream();

    /// @param counted asked of the same exchange, but for its body
    /// @param policy what it says of a message
    McpPassage(Passage counted, RequestHead head, Mode mode, Function<RpcMessage, Decision> policy) {
        this.counted = counted;
        this.head = head;
        this.mode = mode;
        this.policy = policy;
    }

    @Override
    public Hold holds() {
        return mode == Mode.ENFORCE ? Hold.ALL : Hold.END;
    }

    @Override
    public @Nullable Ruling begins() {
        return counted.begins();
    }

    @Override
    public @Nullable Ruling sends(long octets) {
        return counted.sends(octets);
    }

    @Override
    public @Nullable Ruling receives(long octets) {
        return counted.receives(octets);
    }

    /// More than can be judged is kept to one octet, by which it shows.
    @Override
    public @Nullable Ruling body(ByteBuffer piece) {
        byte[] octets = new byte[Math.min(piece.remaining(), HELD_BYTES_MAX + 1 - body.size())];
        piece.get(octets);
        body.writeBytes(octets);
        return null;
    }

    @Override
    public @Nullable Ruling whole() {
        boolean post = head.method().equals("POST");
        if (!post) {
            return body.size() == 0 ? null : unread("a " + head.method() + " with a body");
        }
        String type = head.contentType();
        if (type == null || !JSON.matcher(type).matches()) {
            return unread("its Content-Type is not application/json in UTF-8");
        }
        if (head.contentCoding() != null) {
            return unread("it has a Content-Encoding");
        }
        if (body.size() > HELD_BYTES_MAX) {
            return unread("it has more than " + HELD_BYTES_MAX + " octets");
        }
        try {
            return judged(RpcReader.read(body.toByteArray()));
        } catch (RpcException e) {
            return unread(e.why());
        }
    }

    private Ruling judged(List<RpcMessage> messages) {
        String what = messages.stream()
                .limit(TOLD_MAX)
                .map(McpPassage::words)
                .collect(Collectors.joining(", ", "", messages.size() > TOLD_MAX ? ", …" : ""));
        Decision allowed = null;
        for (RpcMessage message : messages) {
            Decision decision = policy.apply(message);
            boolean whole = decision.verdict() == blackbox.policy.decide.Verdict.ALLOW
                    && decision.needs().isEmpty();
            if (!whole) {
                return refused(message, messages.size() == 1, decision, what);
            }
            allowed = decision;
        }
        if (allowed == null) {
            throw new IllegalStateException("a body without messages was read");
        }
        return new Ruling(Verdict.allow(allowed.rule(), allowed.reason()), Stage.MCP, what, OK, null);
    }

    /// A call that could be answered is answered, so that its client goes on.
    private Ruling refused(RpcMessage message, boolean alone, Decision decision, String what) {
        Verdict verdict = verdict(decision.rule(), decision.reason());
        String id = message.id();
        return alone && id != null
                ? new Ruling(verdict, Stage.MCP, what, OK, error(id, verdict))
                : new Ruling(verdict, Stage.MCP, what, FORBIDDEN, null);
    }

    private Verdict verdict(String rule, String reason) {
        return mode == Mode.ENFORCE ? Verdict.deny(rule, reason) : Verdict.wouldDeny(rule, reason);
    }

    private Ruling unread(String why) {
        return new Ruling(
                verdict(Decision.DEFAULT, "messages to an MCP server are judged, and this body cannot be: " + why),
                Stage.MCP,
                "?",
                FORBIDDEN,
                null);
    }

    private static String words(RpcMessage message) {
        String method = message.method();
        String name = message.name();
        return method == null ? "an answer" : name == null ? method : method + " " + name;
    }

    private static String error(String id, Verdict verdict) {
        try {
            var answer = WRITER.createObjectNode();
            answer.put("jsonrpc", "2.0");
            answer.putRawValue("id", new RawValue(id));
            var error = answer.putObject("error");
            error.put("code", REFUSED).put("message", "Blackbox egress gateway: " + verdict.reason());
            error.putObject("data").put("rule", verdict.rule());
            return WRITER.writeValueAsString(answer) + "\n";
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("an id that was read cannot be written", e);
        }
    }

    @Override
    public void over() {
        counted.over();
    }
}
