package blackbox.gateway.stack;

import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.WriteBufferWaterMark;
import java.util.Map;

/// The options of a [GuestTcpChannel]: those of every channel, and [ChannelOption#ALLOW_HALF_CLOSURE].
final class GuestTcpChannelConfig extends DefaultChannelConfig {
    private boolean halfClosure;

    /// @param inFlightMax how much may be written that is not acknowledged
    GuestTcpChannelConfig(GuestTcpChannel channel, int inFlightMax) {
        super(channel);
        setWriteBufferWaterMark(new WriteBufferWaterMark(inFlightMax / 2, inFlightMax));
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
