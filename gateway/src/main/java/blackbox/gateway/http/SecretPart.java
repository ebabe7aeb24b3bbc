package blackbox.gateway.http;

import blackbox.gateway.egress.Finding;
import blackbox.gateway.egress.HostPort;
import blackbox.gateway.egress.HttpField;
import blackbox.gateway.egress.RequestVerdict;
import blackbox.gateway.egress.SecretUse;
import blackbox.gateway.egress.SecretUse.How;
import blackbox.gateway.egress.Verdict;
import blackbox.gateway.http.Framing.Kind;
import blackbox.gateway.secret.FilledBody;
import blackbox.gateway.secret.FilledHead;
import blackbox.gateway.secret.GuestSecret;
import blackbox.gateway.secret.Scrubber;
import blackbox.gateway.secret.SecretPlace;
import blackbox.gateway.secret.Secrets.Stray;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// What one exchange has to do with secrets: whether one goes with it, whether a surrogate stands where it must not,
/// and what of the answer the guest may see. Owned by the loop.
final class SecretPart {
    /// More of them in one head are no use of a credential.
    private static final int PUT_MAX = 16;

    /// The last two are of the messages in a body.
    private static final List<String> CODINGS =
            List.of("content-encoding", "grpc-encoding", "connect-content-encoding");

    private static final int PARTIAL_CONTENT = 206;
    /// Whoever is offered parts may take a whole answer for a failure; parts are not asked for, as a value could be
    /// in two of them.
    private static final Set<String> PARTS_OFFERED = Set.of("accept-ranges");

    private static final int FORBIDDEN = 403;

    private final HttpPeer peer;
    private final GuestRequest request;
    private final long number;
    private @Nullable GuestSecret secret;
    private @Nullable String rule;
    private @Nullable FilledHead head;
    private @Nullable Scrubber scrubber;
    private boolean over;

    SecretPart(HttpPeer peer, GuestRequest request, long number) {
        this.peer = peer;
        this.request = request;
        this.number = number;
    }

    // The request.

    /// What is decided in the end: no surrogate leaves but where it is exchanged. May be called again, if the request
    /// is judged again.
    RequestVerdict check(RequestVerdict given) {
        Verdict verdict = given.verdict();
        String id = verdict.allowed() ? verdict.secret() : null;
        GuestSecret goesWith = id == null ? null : peer.secrets().named(id);
        secret = goesWith;
        rule = verdict.rule();
        clear();
        if (id != null && goesWith == null) {
            return refused(given, "the gateway was not given the secret " + id + ", which goes with this request");
        }
        if (over || peer.secrets().isEmpty()) {
            return given;
        }
        List<HttpField> fields = Outgoing.passedOn(request).all();
        FilledHead filled =
                goesWith == null ? FilledHead.of(given.target(), fields) : goesWith.fill(given.target(), fields);
        String fault = fault(goesWith, filled, verdict.upstream());
        if (fault != null) {
            filled.clear();
            return verdict.allowed() ? refused(given, fault) : given;
        }
        head = filled;
        return given;
    }

    private static RequestVerdict refused(RequestVerdict given, String why) {
        return new RequestVerdict(Verdict.deny(null, why), given.target(), FORBIDDEN);
    }

    /// Whether its body is held back, for a value to be put into it ([#fill]).
    boolean fillsBody() {
        GuestSecret known = secret;
        return known != null
                && known.place() instanceof SecretPlace.Body
                && !request.framing().is(Kind.NONE)
                && FilledBody.isFor(request.judged().contentType());
    }

    /// Its whole body as it leaves; null if that is as the guest sent it.
    ///
    /// @throws FilledBody.Unreadable with a clause about the body
    byte @Nullable [] fill(byte[] body) throws FilledBody.Unreadable {
        GuestSecret known = secret;
        if (known == null) {
            throw new IllegalStateException("no secret goes with it");
        }
        return known.fill(body, request.judged().contentType());
    }

    /// Tells of its body, which leaves.
    ///
    /// @param filled whether the value is in it
    void leaves(boolean filled) {
        GuestSecret known = secret;
        if (known != null) {
            tell(known, filled ? How.PUT : How.ABSENT, known.place().words(), filled ? 1 : 0);
        }
    }

    /// @param upstream where the request goes; if that is not where the connection leads, it is checked again there
    private @Nullable String fault(@Nullable GuestSecret goesWith, FilledHead filled, @Nullable HostPort upstream) {
        Stray stray = peer.secrets().stray(filled.target(), left(filled));
        if (stray != null) {
            GuestSecret it = stray.secret();
            peer.findings().found(Finding.SECRET_ELSEWHERE, it.id() + " in " + stray.where());
            tell(it, How.ELSEWHERE, stray.where(), 1);
            return "the surrogate of the secret " + it.id() + " stands in " + stray.where()
                    + "; it is exchanged only under " + rules(it) + ", in "
                    + it.place().words();
        }
        if (request.judged().webSocket() && (goesWith != null || peer.secrets().isTold(host()))) {
            return "the host is told a secret, and what it says over a WebSocket could not be kept free of it";
        }
        if (goesWith == null) {
            return null;
        }
        String name = "the secret " + goesWith.id();
        if (filled.count() > PUT_MAX) {
            return "the surrogate of " + name + " stands in it more than " + PUT_MAX + " times";
        }
        boolean isThere = Objects.equals(upstream, peer.destination().upstream());
        if (fillsBody()
                && request.fields().tokens("content-encoding").stream()
                        .anyMatch(coding -> !coding.equals("identity"))) {
            return name + " goes into its body, which is compressed";
        }
        if ((filled.count() > 0 || fillsBody())
                && !peer.encrypted()
                && isThere
                && !peer.destination().isLoopback()) {
            return name + " is not sent without TLS, except to this host's own loopback";
        }
        return null;
    }

    private static String rules(GuestSecret secret) {
        return (secret.rules().size() == 1 ? "rule " : "rules ") + String.join(", ", secret.rules());
    }

    /// The fields as they leave, and those that do not.
    private List<HttpField> left(FilledHead filled) {
        Set<HttpField> passedOn = new HashSet<>(Outgoing.passedOn(request).all());
        var all = new ArrayList<>(filled.fields());
        request.fields().all().stream()
                .filter(field -> !passedOn.contains(field))
                .forEach(all::add);
        return all;
    }

    /// The head as it leaves now.
    ///
    /// @param webSocketKey as in [Outgoing]
    Outgoing leaving(String target, @Nullable String webSocketKey) {
        GuestSecret known = secret;
        if (known != null || peer.secrets().isTold(host())) {
            scrubber = peer.secrets().scrubber();
        }
        FilledHead filled =
                head == null ? FilledHead.of(target, Outgoing.passedOn(request).all()) : head;
        if (known != null && !fillsBody()) {
            tell(known, filled.count() > 0 ? How.PUT : How.ABSENT, known.place().words(), filled.count());
        }
        return new Outgoing(request, filled, scrubber != null, webSocketKey);
    }

    /// The id of the secret whose value it leaves with, or may; null if there is none in it.
    @Nullable
    String put() {
        GuestSecret known = secret;
        FilledHead filled = head;
        boolean has = fillsBody() || filled != null && filled.count() > 0;
        return known == null || !has ? null : known.id();
    }

    private String host() {
        String name = peer.destination().host();
        return name == null ? peer.destination().address() : name;
    }

    // The answer.

    /// Whether what comes back is searched.
    boolean scrubs() {
        return scrubber != null;
    }

    /// The head of an answer, as the guest may see it.
    ///
    /// @throws HttpFault if its body could not be searched
    UpstreamAnswer scrub(UpstreamAnswer answer) throws HttpFault {
        Scrubber known = scrubber;
        if (known == null) {
            return answer;
        }
        boolean coded = CODINGS.stream()
                .flatMap(name -> answer.fields().tokens(name).stream())
                .anyMatch(coding -> !coding.equals("identity"));
        if (!answer.framing().is(Kind.NONE) && (coded || answer.status() == PARTIAL_CONTENT)) {
            throw HttpFault.bad("its body is " + (coded ? "compressed" : "a part")
                    + ", which was not asked for, and so cannot be searched for secrets");
        }
        return new UpstreamAnswer(
                answer.status(),
                known.scrub(answer.reason()),
                scrub(answer.fields().without(PARTS_OFFERED)),
                answer.framing(),
                answer.last());
    }

    /// Fields as the guest may see them.
    Fields scrub(Fields fields) {
        Scrubber known = scrubber;
        if (known == null) {
            return fields;
        }
        return new Fields(fields.all().stream()
                .map(field -> new HttpField(known.scrub(field.name()), known.scrub(field.value())))
                .toList());
    }

    /// What of the answer's body may be passed on now; takes ownership, and gives it.
    ByteBuf scrub(ByteBuf body) {
        Scrubber known = scrubber;
        return known == null ? body : known.scrub(body);
    }

    /// What is left of the body, which is whole.
    ByteBuf rest() {
        Scrubber known = scrubber;
        return known == null ? Unpooled.EMPTY_BUFFER : known.finish();
    }

    /// Tells what was found in the answer.
    void over() {
        over = true;
        clear();
        Scrubber known = scrubber;
        if (known == null) {
            return;
        }
        known.found().forEach((id, count) -> {
            GuestSecret it = peer.secrets().named(id);
            if (it != null) {
                peer.findings()
                        .found(
                                Finding.SECRET_REFLECTED,
                                id + " by " + peer.destination().text());
                tell(it, How.REFLECTED, "the answer", count);
            }
        });
    }

    private void clear() {
        FilledHead filled = head;
        head = null;
        if (filled != null) {
            filled.clear();
        }
    }

    private void tell(GuestSecret about, How how, String place, long count) {
        peer.listener()
                .secret(new SecretUse(
                        peer.flow(), peer.destination().host(), number, about.id(), how, rule, place, count));
    }
}
