package blackbox.gateway.http;

import blackbox.gateway.egress.Decision;
import blackbox.gateway.egress.Decision.Stage;
import blackbox.gateway.egress.ExchangeTap;
import blackbox.gateway.egress.HostPort;
import blackbox.gateway.egress.HttpExchange;
import blackbox.gateway.egress.HttpExchange.How;
import blackbox.gateway.egress.Metered;
import blackbox.gateway.egress.Passage;
import blackbox.gateway.egress.RequestHead;
import blackbox.gateway.egress.RequestVerdict;
import blackbox.gateway.egress.Ruling;
import blackbox.gateway.egress.Verdict;
import blackbox.gateway.stack.GuestTcpChannel;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// One request and what comes of it, from when it is judged until it is told of.
final class Exchange {
    private static final int FORBIDDEN = 403;
    private static final int STATUS_END = 600;

    private final HttpPeer peer;
    private final GuestRequest request;
    private final long number;
    private final long startedNs = System.nanoTime();
    private final ExchangeTap tap;
    private final SecretPart secrets;
    private final BodyDigest sent = new BodyDigest();
    private final BodyDigest answered = new BodyDigest();
    private String target;
    private @Nullable String rule;
    private int status;
    private @Nullable Duration firstOctet;
    private Passage passage = Passage.FREE;
    private boolean begun;
    /// The rule that its passage is of.
    private @Nullable String passageRule;
    private @Nullable Departure departure;
    private boolean over;

    /// How the answer's body is framed towards the guest; null until there is an answer.
    @Nullable
    Framing answer;

    /// Whether the guest has sent all of its request.
    boolean requestWhole;

    /// How often the other side was dialled for it.
    int dials;

    /// Whether the other side's connection goes on after its answer.
    boolean reusable;

    /// Whether the guest was told that its connection ends with the answer.
    boolean lastForGuest;

    Exchange(HttpPeer peer, GuestRequest request, long number) {
        this.peer = peer;
        this.request = request;
        this.number = number;
        this.target = request.judged().target();
        this.secrets = new SecretPart(peer, request, number);
        this.tap = peer.listener()
                .asked(peer.flow(), request.judged(), request.fields().all());
    }

    GuestRequest request() {
        return request;
    }

    SecretPart secrets() {
        return secrets;
    }

    RequestHead judged() {
        return request.judged();
    }

    String target() {
        return target;
    }

    /// Keeps what was decided on it, and tells of it.
    void decided(RequestVerdict given) {
        Verdict verdict = given.verdict();
        RequestHead judged = request.judged();
        rule = verdict.rule();
        target = given.target();
        peer.listener()
                .decided(Decision.of(verdict, peer.flow(), peer.destination().host(), judged));
    }

    /// The status of a refusal.
    static int refusal(RequestVerdict given) {
        boolean proper = given.status() >= HttpFault.BAD_REQUEST && given.status() < STATUS_END;
        return proper ? given.status() : FORBIDDEN;
    }

    /// What is decided in the end: the request is let through if its passage may begin. What goes elsewhere is judged
    /// again there, and begins then. One that is judged again keeps its passage, unless another rule allows it.
    RequestVerdict begins(RequestVerdict given) {
        Verdict verdict = given.verdict();
        HostPort here = peer.destination().upstream();
        boolean elsewhere =
                !Objects.equals(Route.of(verdict, peer.destination(), null).upstream(), here);
        boolean keeps = begun && Objects.equals(passageRule, verdict.rule());
        if (over || !verdict.allowed() || elsewhere || keeps) {
            return given;
        }
        if (begun) {
            passage.over();
        }
        passage = given.passage();
        passageRule = verdict.rule();
        begun = true;
        Ruling ruling = passage.begins();
        return ruling == null
                ? given
                : new RequestVerdict(ruling.verdict(), given.target(), ruling.status(), given.passage());
    }

    Passage passage() {
        return passage;
    }

    /// Tells a ruling.
    ///
    /// @return it, if it stops the exchange
    @Nullable
    Ruling asked(@Nullable Ruling ruling) {
        if (ruling != null) {
            tell(ruling);
        }
        return ruling != null && ruling.stops() ? ruling : null;
    }

    private void tell(Ruling ruling) {
        Verdict verdict = ruling.verdict();
        String host = peer.destination().host();
        Stage stage = ruling.stage();
        String what = ruling.what();
        peer.listener()
                .decided(
                        stage == null || what == null
                                ? Decision.of(verdict, peer.flow(), host, judged())
                                : new Decision(
                                        stage,
                                        verdict.outcome(),
                                        verdict.rule(),
                                        verdict.reason(),
                                        peer.flow(),
                                        host,
                                        what));
    }

    /// Asks for octets that are about to go to the guest.
    @Nullable
    Ruling receives(long octets) {
        return asked(passage.receives(octets));
    }

    /// Begins to forward it.
    Departure departs(GuestTcpChannel guest, UpstreamLink to, Route route) {
        var begins = new Departure(this, guest, to, route);
        departure = begins;
        return begins;
    }

    /// What is being forwarded of it; null before.
    @Nullable
    Departure departure() {
        return departure;
    }

    /// Gives its passage to the connection that it became.
    Metered passedOn() {
        Passage given = passage;
        passage = Passage.FREE;
        return new Metered(given, this::asked);
    }

    /// A piece of the request's body is being forwarded.
    void sending(ByteBuf body) {
        sent.add(body);
        for (ByteBuffer part : body.nioBuffers()) {
            tap.sent(part);
        }
    }

    /// The guest is being sent an answer with this status.
    ///
    /// @param fields as the other side sent them, without secrets
    void answering(int with, Fields fields) {
        status = with;
        firstOctet = Duration.ofNanos(System.nanoTime() - startedNs);
        tap.answered(with, fields.all());
    }

    /// The guest is being sent a piece of the answer's body.
    void answering(ByteBuf body) {
        answered.add(body);
        for (ByteBuffer part : body.nioBuffers()) {
            tap.answered(part);
        }
    }

    boolean answersIn(Framing.Kind kind) {
        Framing known = answer;
        return known != null && known.is(kind);
    }

    boolean isAnswered() {
        return status != 0;
    }

    /// Tells of it, the first time.
    void end(How how) {
        if (!over) {
            over = true;
            secrets.over();
            Departure leaving = departure;
            if (leaving != null) {
                leaving.drop();
            }
            tap.over(new HttpExchange(
                    peer.flow(),
                    peer.destination().host(),
                    number,
                    request.version().protocol(),
                    peer.scheme(),
                    request.judged(),
                    target,
                    rule,
                    status,
                    sent.body(),
                    answered.body(),
                    firstOctet,
                    Duration.ofNanos(System.nanoTime() - startedNs),
                    how));
            if (begun) {
                passage.over();
            }
        }
    }
}
