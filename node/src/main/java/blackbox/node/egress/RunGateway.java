package blackbox.node.egress;

import blackbox.gateway.Gateway;
import blackbox.gateway.GatewaySettings;
import blackbox.policy.Policy;
import blackbox.policy.host.Address;
import blackbox.recorder.guest.EventSink;
import blackbox.recorder.guest.HostClock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The gateway of one run, from before its agent starts until its machine has ended.
public final class RunGateway implements AutoCloseable {

    private final Gateway gateway;
    private final PlaintextCapture plaintext;
    private final RunEgress egress;
    private final Runnable account;
    private final Consumer<String> stop;

    private RunGateway(
            Gateway gateway, PlaintextCapture plaintext, RunEgress egress, Runnable account, Consumer<String> stop) {
        this.account = account;
        this.gateway = gateway;
        this.plaintext = plaintext;
        this.egress = egress;
        this.stop = stop;
    }

    /// Starts it.
    ///
    /// @param network the machine's socket, of which it takes ownership
    /// @param kept where it keeps what went over TLS that it opened, a file that does not exist
    /// @param keptBytesMax how much of that at most
    /// @param recorder takes its events
    /// @param stop ends the machine, with the reason: called when the gateway breaks
    public static RunGateway start(
            SocketChannel network,
            RunEgress egress,
            Path kept,
            long keptBytesMax,
            HostClock clock,
            EventSink recorder,
            Consumer<String> stop) {
        var plaintext = new PlaintextCapture(kept, keptBytesMax, clock::nowNs);
        Policy policy = egress.request().policy();
        var budgets = new Budgets(policy, System::nanoTime);
        var log = new EgressLog(clock, recorder, plaintext, budgets);
        Gateway gateway = Gateway.start(
                network,
                GatewaySettings.DEFAULT,
                new PolicyAuthority(policy, RunGateway::ownAddresses, budgets),
                log,
                Gateway.Outside.inspecting(
                                egress.authority(),
                                egress.request().upstreams(),
                                egress.request().secrets().secrets())
                        .holding(egress.witness()));
        var unused = gateway.ended().whenComplete((nothing, failure) -> {
            if (failure != null) {
                stop.accept("the egress gateway failed: " + failure.getMessage());
            }
        });
        return new RunGateway(gateway, plaintext, egress, () -> log.spent(policy, budgets.spent()), stop);
    }

    /// The addresses of this host's interfaces now. Where the system does not tell them, none may be dialled.
    private static Set<Address> ownAddresses() {
        try {
            return NetworkInterface.networkInterfaces()
                    .flatMap(NetworkInterface::inetAddresses)
                    .map(address -> Address.of(address.getAddress()))
                    .collect(Collectors.toSet());
        } catch (SocketException e) {
            throw new UncheckedIOException("this host's own addresses are not known", e);
        }
    }

    /// Ends what is open, and clears the secrets; all its events are with the recorder then, unless it broke.
    @Override
    public void close() {
        egress.endHold();
        try {
            gateway.close();
            account.run();
        } catch (IllegalStateException e) {
            stop.accept("the egress gateway failed: " + e.getMessage()); // the run is closed all the same
        } finally {
            egress.request().secrets().close();
        }
        try {
            plaintext.close();
        } catch (IOException e) {
            stop.accept("the egress gateway failed: " + e.getMessage());
        }
    }

    /// Why not all that went over TLS that it opened is kept; null if all is, up to its limit.
    public @Nullable IOException failure() {
        return plaintext.failure();
    }
}
