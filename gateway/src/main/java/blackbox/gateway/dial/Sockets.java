package blackbox.gateway.dial;

import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.channel.socket.nio.NioSocketChannel;

/// What the host connects with: all that leaves a gateway, leaves through these.
public interface Sockets {

    /// The host's own.
    Sockets OF_HOST = new Sockets() {
        @Override
        public SocketChannel stream() {
            return new NioSocketChannel();
        }

        @Override
        public DatagramChannel datagram() {
            return new NioDatagramChannel();
        }
    };

    /// A new one for TCP, for a loop over NIO.
    SocketChannel stream();

    /// A new one for UDP, likewise.
    DatagramChannel datagram();
}
