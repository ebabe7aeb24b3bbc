package blackbox.gateway.stack;

import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.WriteBufferWaterMark;
import java.util.Map;

/// The options of a [GuestTcpChannel]: those of every channel, and [ChannelOption#ALLOW_HALF_CLOSURE].
final class GuestTcpChannelConfig extends DefaultChannelConfig {
    /// What is in flight: the tracer, QEMU and an emulated processor take some milliseconds for a round trip.
    private static final WriteBufferWaterMark WRITES = new WriteBufferWaterMark(128 << 10, 256 << 10);

    private boolean halfClosure;

    GuestTcpChannelConfig(GuestTcpChannel channel) {
        super(channel);
        setWriteBufferWaterMark(WRITES);
    }

    boolean allowsHalfClosure() {
        return halfClosure;
    }

    @Override
    public Map<ChannelOption<?>, Object> getOptions() {
        return getOptions(super.getOptions(), ChannelOption.ALLOW_HALF_CLOSURE);
    }

    @Override
    @SuppressWarnings("unchecked")
    public <T> T getOption(ChannelOption<T> option) {
        return option.equals(ChannelOption.ALLOW_HALF_CLOSURE)
                ? (T) Boolean.valueOf(halfClosure)
                : super.getOption(option);
    }

    @Override
    public <T> boolean setOption(ChannelOption<T> option, T value) {
        if (!option.equals(ChannelOption.ALLOW_HALF_CLOSURE)) {
            return super.setOption(option, value);
        }
        validate(option, value);
        halfClosure = (Boolean) value;
        return true;
    }
}
