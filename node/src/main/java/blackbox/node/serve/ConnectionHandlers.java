package blackbox.node.serve;

import io.micronaut.context.event.BeanCreatedEvent;
import io.micronaut.context.event.BeanCreatedEventListener;
import io.micronaut.http.netty.channel.ChannelPipelineCustomizer;
import io.micronaut.http.server.netty.NettyServerCustomizer;
import io.netty.channel.Channel;
import jakarta.inject.Singleton;
import org.jspecify.annotations.Nullable;

/// Adds to every connection's pipeline what watches its requests and answers.
@Singleton
final class ConnectionHandlers implements BeanCreatedEventListener<NettyServerCustomizer.Registry> {
    private final ApiAddress address;
    private final ApiContext context;

    ConnectionHandlers(ApiAddress address, ApiContext context) {
        this.address = address;
        this.context = context;
    }

    @Override
    public NettyServerCustomizer.Registry onCreated(BeanCreatedEvent<NettyServerCustomizer.Registry> event) {
        event.getBean().register(new Customizer(address, context, null));
        return event.getBean();
    }

    private record Customizer(
            ApiAddress address,
            ApiContext context,
            @Nullable Channel channel) implements NettyServerCustomizer {

        @Override
        public NettyServerCustomizer specializeForChannel(Channel specific, ChannelRole role) {
            return new Customizer(address, context, specific);
        }

        @Override
        public void onStreamPipelineBuilt() {
            if (channel != null) {
                channel.pipeline()
                        .addAfter(
                                ChannelPipelineCustomizer.HANDLER_HTTP_SERVER_CODEC,
                                "request-deadline",
                                new RequestDeadline(address.patience()))
                        .addAfter("request-deadline", "answer-meter", new AnswerMeter(context.access()));
            }
        }
    }
}
