package blackbox.node.serve;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RequestDeadlineTest {

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final EmbeddedChannel channel = new EmbeddedChannel(new RequestDeadline(PATIENCE));

    private void pass(long seconds) {
        channel.advanceTimeBy(seconds, TimeUnit.SECONDS);
        channel.runScheduledPendingTasks();
    }

    private void ask() {
        channel.writeInbound(
                new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/"), LastHttpContent.EMPTY_LAST_CONTENT);
    }

    private void answer() {
        // As Micronaut does: it passes the void promise.
        var _ = channel.write(
                new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK), channel.voidPromise());
        var _ = channel.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT, channel.voidPromise());
    }

    @Test
    void aRequestThatDoesNotEndIsNotWaitedFor() {
        channel.writeInbound(new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/"));
        pass(19);
        assertTrue(channel.isOpen());
        pass(2);
        assertFalse(channel.isOpen());
    }

    @Test
    void anAnswerMayTakeAsLongAsItTakes() {
        ask();
        pass(3_600);
        assertTrue(channel.isOpen());
        channel.writeOutbound(new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK));
        pass(3_600);
        assertTrue(channel.isOpen());
    }

    @Test
    void afterAnAnswerTheNextRequestIsDue() {
        ask();
        ask();
        answer();
        pass(30);
        assertTrue(channel.isOpen(), "the second answer is still due");
        answer();
        pass(19);
        assertTrue(channel.isOpen());
        ask();
        answer();
        pass(19);
        assertTrue(channel.isOpen());
        pass(2);
        assertFalse(channel.isOpen());
    }
}
