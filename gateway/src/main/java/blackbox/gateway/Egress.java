package blackbox.gateway;

import blackbox.gateway.dial.DialException;
import blackbox.gateway.dial.Dialer;
import blackbox.gateway.dial.Dialled;
import blackbox.gateway.dial.Place;
import blackbox.gateway.dns.NameService;
import blackbox.gateway.dns.NameTable;
import blackbox.gateway.egress.Decision;
import blackbox.gateway.egress.Decision.Stage;
import blackbox.gateway.egress.Destination;
import blackbox.gateway.egress.Finding;
import blackbox.gateway.egress.Findings;
import blackbox.gateway.egress.Flow;
import blackbox.gateway.egress.FlowEnd;
import blackbox.gateway.egress.FlowEnd.How;
import blackbox.gateway.egress.FlowWitness.FirstSegment;
import blackbox.gateway.egress.GatewayListener;
import blackbox.gateway.egress.HostPort;
import blackbox.gateway.egress.Judge;
import blackbox.gateway.egress.Judge.OnConnection;
import blackbox.gateway.egress.Outcome;
import blackbox.gateway.egress.Protocol;
import blackbox.gateway.egress.Verdict;
import blackbox.gateway.stack.DatagramFlow;
import blackbox.gateway.stack.FlowHandler;
import blackbox.gateway.stack.GuestTcpChannel;
import blackbox.gateway.stack.OpeningConnection;
import blackbox.gateway.stack.Question;
import blackbox.gateway.stack.Refusal;
import blackbox.schemas.net.IpAddress;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// What becomes of each flow that a guest opens: it is judged, and if allowed handed to whoever serves it. Owned by the
/// loop.
final class Egress implements FlowHandler {
    private static final int DNS = 53;
    private static final int DNS_STREAMS_MAX = 64;
    private static final int DNS_OVER_TLS = 853;
    private static final int QUIC = 443;

    private final Judge judge;
    private final GatewayListener listener;
    private final Findings findings;
    private final NameTable names;
    private final NameService nameService;
    private final Dialer dialer;
    private final ConnectionHandler handler;
    private final DatagramRelay datagrams;
    private int dnsStreams;

    Egress(
            Judge judge,
            GatewayListener listener,
            Findings findings,
            NameTable names,
            Dialer dialer,
            ConnectionHandler handler,
            DatagramRelay datagrams) {
        this.judge = judge;
        this.listener = listener;
        this.findings = findings;
        this.names = names;
        this.nameService = new NameService(names, judge, listener, findings);
        this.dialer = dialer;
        this.handler = handler;
        this.datagrams = datagrams;
    }

    @Override
    public boolean asked(Question question) {
        Flow flow = question.flow();
        if (flow.remote().port() != DNS) {
            return false;
        }
        boolean unused = nameService.answer(flow, question.payload(), question.answer()::send);
        return true;
    }

    @Override
    public void opening(OpeningConnection connection) {
        if (connection.flow().remote().port() == DNS) {
            openDns(connection);
            return;
        }
        Flow flow = connection.flow();
        var first = new FirstSegment(flow, connection.sequence());
        judge(flow, destination -> judge.connect(first, destination), (destination, verdict) -> {
            if (!verdict.allowed()) {
                connection.refuse(Refusal.PROHIBITED);
                return;
            }
            var allowed = new Allowed(connection, destination, verdict);
            if (connection.isWaiting()) {
                connection.onAbandoned(allowed::abandoned);
                handler.open(allowed);
            } else {
                allowed.ended(How.EVICTED, 0, 0);
            }
        });
    }

    private void openDns(OpeningConnection connection) {
        if (dnsStreams >= DNS_STREAMS_MAX) {
            findings.found(Finding.QUESTIONS_DROPPED, "more than " + DNS_STREAMS_MAX + " connections for DNS at once");
            connection.refuse(Refusal.REFUSED);
            return;
        }
        dnsStreams++;
        connection.accept(
                new DnsStream.Initializer(connection.flow(), nameService), (how, octetsOut, octetsIn) -> dnsStreams--);
    }

    @Override
    public void opening(DatagramFlow flow) {
        judge(flow.flow(), this::judged, (destination, verdict) -> {
            if (!verdict.allowed()) {
                flow.refuse(Refusal.PROHIBITED);
            } else if (flow.isWaiting()) {
                datagrams.serve(flow, destination, verdict, this);
            } else {
                listener.ended(new FlowEnd(flow.flow(), destination.host(), 0, 0, How.EVICTED));
            }
        });
    }

    /// Receives a verdict that the listener knows.
    @FunctionalInterface
    private interface Judged {
        void take(Destination destination, Verdict verdict);
    }

    private CompletionStage<OnConnection> judged(Destination destination) {
        return judge.connect(destination).thenApply(verdict -> new OnConnection(destination, verdict));
    }

    private void judge(Flow flow, Function<Destination, CompletionStage<OnConnection>> question, Judged judged) {
        String address = flow.remote().ip();
        int port = flow.remote().port();
        String host = NameTable.isOurs(address) ? names.name(address) : null;
        var destination = new Destination(host, address, port, flow.protocol());
        Verdict own = own(destination);
        if (own != null) {
            decided(flow, destination, own, judged);
        } else {
            question.apply(destination).thenAccept(on -> decided(flow, on.destination(), on.verdict(), judged));
        }
    }

    /// What no rule can allow, because it could not be judged.
    private @Nullable Verdict own(Destination destination) {
        boolean opaque = destination.port() == DNS_OVER_TLS
                || destination.port() == QUIC && destination.protocol() == Protocol.UDP;
        if (opaque) {
            findings.found(Finding.OPAQUE_REFUSED, destination.protocol() + " to " + destination.text());
            return Verdict.deny(null, "QUIC and encrypted DNS are not served; TCP and plain DNS are");
        }
        if (destination.host() == null && NameTable.isOurs(destination.address())) {
            return Verdict.deny(null, "no name was given this address");
        }
        return null;
    }

    private void decided(Flow flow, Destination destination, Verdict verdict, Judged judged) {
        listener.decided(Decision.connect(verdict, flow, destination));
        judged.take(destination, verdict);
    }

    /// Tells where an allowed destination was reached, before the guest hears that it was.
    void connected(Flow flow, Destination destination, Verdict verdict, Place place, int port) {
        String address = endpoint(ip(place), port);
        Verdict there = place.verdict();
        Outcome outcome = there.outcome() == Outcome.ALLOW ? verdict.outcome() : there.outcome();
        listener.decided(new Decision(
                Stage.DIAL, outcome, there.rule(), "connected to " + address, flow, destination.host(), address));
    }

    private static String ip(Place place) {
        return IpAddress.text(place.address().getAddress());
    }

    private static String endpoint(String ip, int port) {
        return (ip.contains(":") ? "[" + ip + "]" : ip) + ":" + port;
    }

    /// Tells of an allowed destination that was not reached, and returns what the guest hears.
    ///
    /// @param port that was to be dialled
    Refusal notReached(Flow flow, Destination destination, int port, DialException why) {
        addressRefused(flow, destination, port, why);
        listener.ended(new FlowEnd(flow, destination.host(), 0, 0, How.NOT_REACHED));
        return switch (why.reason()) {
            case REFUSED -> Refusal.REFUSED;
            case ADDRESS_REFUSED -> Refusal.PROHIBITED;
            case NO_ADDRESS, UNREACHABLE, TIMED_OUT, OVERLOADED -> Refusal.UNREACHABLE;
        };
    }

    private void addressRefused(Flow flow, Destination destination, int port, DialException why) {
        String address = why.address();
        if (address != null) {
            findings.found(Finding.ADDRESS_REFUSED, destination.text());
            listener.decided(new Decision(
                    Stage.DIAL,
                    Outcome.DENY,
                    why.rule(),
                    String.valueOf(why.getMessage()),
                    flow,
                    destination.host(),
                    endpoint(address, port)));
        }
    }

    void ended(FlowEnd end) {
        listener.ended(end);
    }

    /// Where an allowed destination is dialled. With a dot at its end, a name is looked up as it is and in no search
    /// domain of the host's.
    static HostPort dialled(Destination destination, Verdict verdict) {
        HostPort instead = verdict.upstream();
        String host = destination.host();
        return instead != null
                ? instead
                : new HostPort(host == null ? destination.address() : host + ".", destination.port());
    }

    Dialer.Reach reach(Destination destination, Verdict verdict) {
        return address -> judge.address(destination, address, verdict.upstream());
    }

    private final class Allowed implements AllowedConnection {
        private final OpeningConnection connection;
        private Destination destination;
        private Verdict verdict;
        private final List<CompletableFuture<Dialled>> dials = new ArrayList<>(1);
        private boolean accepted;

        Allowed(OpeningConnection connection, Destination destination, Verdict verdict) {
            this.connection = connection;
            this.destination = destination;
            this.verdict = verdict;
        }

        @Override
        public Flow flow() {
            return connection.flow();
        }

        @Override
        public Destination destination() {
            return destination;
        }

        @Override
        public Verdict verdict() {
            return verdict;
        }

        @Override
        public CompletionStage<Channel> dial(@Nullable HostPort upstream) {
            Verdict by = verdict.via(upstream);
            HostPort to = dialled(destination, by);
            CompletableFuture<Dialled> dial = dialer.dial(to.host(), to.port(), reach(destination, by));
            dials.add(dial);
            return dial.handle((dialled, failure) -> {
                dials.removeIf(CompletableFuture::isDone);
                if (failure == null) {
                    Place place = dialled.place();
                    connected(flow(), destination, by, place, dialled.port());
                    Verdict there = place.verdict();
                    verdict = verdict.inspecting(verdict.inspection().and(there.inspection()))
                            .by(there.rule());
                    destination = destination.at(ip(place), upstream);
                    return dialled.channel();
                }
                DialException why = Dialer.reason(failure);
                if (accepted) {
                    addressRefused(flow(), destination, to.port(), why);
                }
                throw new CompletionException(why);
            });
        }

        private void abandoned() {
            List.copyOf(dials)
                    .forEach(dial -> dial.completeExceptionally(
                            new DialException(DialException.Cause.TIMED_OUT, "the guest no longer waits")));
            ended(How.EVICTED, 0, 0);
        }

        @Override
        public GuestTcpChannel accept(ChannelHandler first) {
            accepted = true;
            return connection.accept(first, this::ended);
        }

        private void ended(How how, long octetsOut, long octetsIn) {
            listener.ended(new FlowEnd(flow(), destination.host(), octetsOut, octetsIn, how));
        }

        @Override
        public void refuse(DialException why) {
            if (connection.isWaiting()) {
                connection.refuse(notReached(
                        flow(), destination, dialled(destination, verdict).port(), why));
            }
        }

        @Override
        public boolean isWaiting() {
            return connection.isWaiting();
        }
    }
}
