package blackbox.node.egress;

import blackbox.gateway.Gateway;
import blackbox.gateway.GatewaySettings;
import blackbox.policy.Policy;
import blackbox.recorder.guest.EventSink;
import blackbox.recorder.guest.HostClock;
import java.nio.channels.SocketChannel;
import java.util.function.Consumer;

/// The gateway of one run, from before its agent starts until its machine has ended.
public final class RunGateway implements AutoCloseable {

    private final Gateway gateway;

    private RunGateway(Gateway gateway) {
        this.gateway = gateway;
    }

    /// Starts it.
    ///
    /// @param network the machine's socket, of which it takes ownership
    /// @param recorder takes its events
    /// @param stop ends the machine, with the reason: called at most once, when the gateway breaks
    public static RunGateway start(
            SocketChannel network, Policy policy, HostClock clock, EventSink recorder, Consumer<String> stop) {
        Gateway gateway = Gateway.start(
                network, GatewaySettings.DEFAULT, new PolicyAuthority(policy), new EgressLog(clock, recorder));
        var unused = gateway.ended().whenComplete((nothing, failure) -> {
            if (failure != null) {
                stop.accept("the egress gateway failed: " + failure.getMessage());
            }
        });
        return new RunGateway(gateway);
    }

    /// Ends what is open; all its events are with the recorder then.
    @Override
    public void close() {
        gateway.close();
    }
}
