package blackbox.bench.subject;

import blackbox.node.egress.EgressRequest;
import blackbox.node.egress.GivenSecrets;
import blackbox.node.egress.RunEgress;
import blackbox.node.egress.RunGateway;
import blackbox.policy.Policy;
import blackbox.policy.text.PolicyReader;
import blackbox.recorder.capture.CaptureLimits;
import blackbox.recorder.guest.HostClock;
import blackbox.recorder.seal.EphemeralKeys;
import blackbox.recorder.seal.RunRecorder;
import blackbox.recorder.seal.RunSealer;
import blackbox.recorder.spool.Spool;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;

/// The gateway of a recording in a process of its own, without the machine: it judges by a policy, opens TLS, keeps
/// what went over it, and every event is sealed and spooled as `record` does. Ends with its standard input.
public final class GatewayProcess {
    /// Printed when the machine may connect.
    static final String READY = "ready";

    private GatewayProcess() {}

    /// @param arguments where to listen for the machine's network, the policy, a PEM file of whom to trust, and a
    ///     folder for the record
    public static void main(String[] arguments) throws Exception {
        var address = UnixDomainSocketAddress.of(arguments[0]);
        Policy policy = PolicyReader.read(Files.readAllBytes(Path.of(arguments[1])));
        Path folder = Path.of(arguments[3]);
        var request = EgressRequest.of(policy, Path.of(arguments[2]), GivenSecrets.none(), EgressRequest.HOLD_MAX);
        var random = new SecureRandom();
        RunId run = RunId.create(Instant.now(), random);
        Spool spool = Spool.create(folder.resolve("spool"), run);
        var clock = new HostClock(InstantSource.system());
        var sealer = new RunSealer(run, new EphemeralKeys(run, random), spool, InstantSource.system());
        try (var server = ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(address)) {
            System.out.println(READY);
            SocketChannel machine = server.accept();
            var recorder = new RunRecorder(sealer, run.value());
            try (var gateway = RunGateway.start(
                    machine,
                    RunEgress.of(request, Instant.now()),
                    folder.resolve("plaintext"),
                    CaptureLimits.DEFAULT.plaintextBytesMax(),
                    clock,
                    recorder,
                    reason -> {
                        System.err.println(reason);
                        System.exit(3);
                    })) {
                int unused = System.in.read();
            }
            recorder.accept(new Event.RunClose(EventHeader.host(clock.nowNs()), 0, 0, 0, null, null));
            recorder.close();
            System.out.println(recorder.recorded());
        }
    }
}
