package blackbox.node.serve;

import blackbox.node.access.AccessLog;
import io.netty.buffer.ByteBufHolder;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.channel.FileRegion;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.LastHttpContent;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// Counts the octets of each recorded request's answer as they leave, and has the record told when it is over,
/// or when the connection is. One for each connection, and, but for [#expect], owned by its event loop.
final class AnswerMeter extends ChannelDuplexHandler {
    /// The header by which it knows which request is answered; it does not leave the process.
    static final String NUMBER = "blackbox-access";

    /// The header by which [AccessFilter] knows on which connection a request came; a client's own is replaced.
    static final String CONNECTION = "blackbox-connection";

    private static final Map<String, AnswerMeter> METERS = new ConcurrentHashMap<>();

    private final AccessLog access;
    /// Requests that were recorded and not answered. Guarded by itself.
    private final Set<Long> unanswered = new HashSet<>();

    private String id = "";
    private boolean gone;
    private @Nullable Answer current;

    /// An answer that is being sent.
    private static final class Answer {
        private final long number;
        private final int status;
        private long bytes;

        Answer(long number, int status) {
            this.number = number;
            this.status = status;
        }
    }

    AnswerMeter(AccessLog access) {
        this.access = access;
    }

    /// Notes that a request was recorded which an answer has to follow.
    ///
    /// @param connection the request's header [#CONNECTION]
    static void expect(AccessLog access, @Nullable String connection, long number) {
        AnswerMeter meter = connection == null ? null : METERS.get(connection);
        if (meter == null || !meter.expect(number)) {
            access.end(number, 0, 0, false); // whoever asked has gone
        }
    }

    private boolean expect(long number) {
        synchronized (unanswered) {
            return !gone && unanswered.add(number);
        }
    }

    private boolean isOver(long number) {
        synchronized (unanswered) {
            return unanswered.remove(number);
        }
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        id = context.channel().id().asLongText();
        METERS.put(id, this);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (message instanceof HttpRequest request) {
            request.headers().set(CONNECTION, id);
        }
        context.fireChannelRead(message);
    }

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
        ChannelPromise written = promise;
        if (message instanceof HttpResponse response
                && response.status().codeClass() != HttpStatusClass.INFORMATIONAL) {
            begin(response);
        }
        Answer answer = current;
        if (answer != null) {
            answer.bytes += octets(message);
            if (message instanceof LastHttpContent) {
                current = null;
                written = promise.unvoid(); // the shared promise takes no listener
                written.addListener(done -> end(answer, done.isSuccess()));
            }
        }
        var _ = context.write(message, written);
    }

    private void begin(HttpResponse response) {
        Answer cut = current;
        if (cut != null) {
            end(cut, false);
        }
        String number = response.headers().get(NUMBER);
        response.headers().remove(NUMBER);
        current = number == null
                ? null
                : new Answer(Long.parseLong(number), response.status().code());
    }

    private void end(Answer answer, boolean complete) {
        if (isOver(answer.number)) {
            access.end(answer.number, answer.status, answer.bytes, complete);
        }
    }

    private static long octets(Object message) {
        return switch (message) {
            case ByteBufHolder body -> body.content().readableBytes();
            case FileRegion region -> region.count();
            default -> 0;
        };
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        METERS.remove(id);
        Answer answer = current;
        current = null;
        if (answer != null) {
            end(answer, false);
        }
        Set<Long> left;
        synchronized (unanswered) {
            gone = true;
            left = Set.copyOf(unanswered);
        }
        for (long number : left) {
            end(new Answer(number, 0), false);
        }
        context.fireChannelInactive();
    }
}
