package blackbox.gateway.dial;

import io.netty.channel.Channel;

/// A connection to a place.
public record Dialled(Channel channel, Place place, int port) {}
