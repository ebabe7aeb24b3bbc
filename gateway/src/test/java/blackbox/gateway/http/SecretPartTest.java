package blackbox.gateway.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.gateway.egress.Decision;
import blackbox.gateway.egress.Destination;
import blackbox.gateway.egress.EgressAuthority;
import blackbox.gateway.egress.ExchangeTap;
import blackbox.gateway.egress.Finding;
import blackbox.gateway.egress.Findings;
import blackbox.gateway.egress.Flow;
import blackbox.gateway.egress.FlowEnd;
import blackbox.gateway.egress.GatewayListener;
import blackbox.gateway.egress.HostPort;
import blackbox.gateway.egress.HttpField;
import blackbox.gateway.egress.Judge;
import blackbox.gateway.egress.PlaintextTap;
import blackbox.gateway.egress.Protocol;
import blackbox.gateway.egress.RequestHead;
import blackbox.gateway.egress.RequestVerdict;
import blackbox.gateway.egress.SecretUse;
import blackbox.gateway.egress.Verdict;
import blackbox.gateway.http.HttpReader.Head;
import blackbox.gateway.secret.GuestSecret;
import blackbox.gateway.secret.SecretPlace;
import blackbox.gateway.secret.SecretValue;
import blackbox.gateway.secret.Secrets;
import blackbox.schemas.event.Endpoint;
import io.netty.channel.socket.DuplexChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Whom a value is sent to, by what is known of the connection.
class SecretPartTest {
    private static final String SURROGATE = "sk-0123456789abcdef";

    private static final Secrets SECRETS = Secrets.of(
            List.of(new GuestSecret(
                    "key",
                    SURROGATE,
                    new SecretPlace.Header("x-key"),
                    List.of("model"),
                    new SecretValue("a-value-of-a-test".getBytes(StandardCharsets.US_ASCII)))),
            host -> true);

    private static final GatewayListener DEAF = new GatewayListener() {
        @Override
        public void decided(Decision decision) {}

        @Override
        public void ended(FlowEnd end) {}

        @Override
        public ExchangeTap asked(Flow flow, RequestHead head, List<HttpField> fields) {
            return exchange -> {};
        }

        @Override
        public PlaintextTap opened(Flow flow) {
            throw new AssertionError("no TLS is opened here");
        }

        @Override
        public void secret(SecretUse use) {}

        @Override
        public void found(Finding finding, String detail, long count) {}
    };

    private static HttpPeer peer(@Nullable String reached, boolean encrypted) {
        var destination = new Destination("model.example", "198.18.0.1", 443, Protocol.TCP, reached, null, null);
        var flow = new Flow(Protocol.TCP, new Endpoint("10.0.2.15", 40_000), new Endpoint("198.18.0.1", 443));
        return new HttpPeer(
                flow,
                new Unmoving(destination),
                null,
                encrypted,
                new Judge(new Nobody(), Runnable::run, Duration.ofSeconds(1)),
                DEAF,
                new Findings(DEAF),
                SECRETS,
                Duration.ofSeconds(1));
    }

    private record Unmoving(Destination destination) implements OtherSide {
        @Override
        public CompletionStage<DuplexChannel> dial(@Nullable HostPort upstream) {
            throw new AssertionError("dialled");
        }
    }

    private static final class Nobody implements EgressAuthority {
        @Override
        public CompletionStage<Verdict> name(String host, String type) {
            throw new AssertionError("asked");
        }

        @Override
        public CompletionStage<Verdict> connect(Destination destination) {
            throw new AssertionError("asked");
        }

        @Override
        public CompletionStage<Verdict> tls(Destination destination, @Nullable String serverName) {
            throw new AssertionError("asked");
        }

        @Override
        public CompletionStage<RequestVerdict> request(
                Destination destination, @Nullable String serverName, RequestHead head) {
            return CompletableFuture.failedFuture(new AssertionError("asked"));
        }

        @Override
        public Verdict address(Destination destination, String address, @Nullable HostPort upstream) {
            throw new AssertionError("asked");
        }
    }

    private static GuestRequest request(HttpField... fields) throws HttpFault {
        var all = new ArrayList<>(List.of(new HttpField("Host", "model.example")));
        all.addAll(List.of(fields));
        return GuestRequest.of(new Head("GET /v1 HTTP/1.1", new Fields(all)));
    }

    private static RequestVerdict allowed(@Nullable String secret) {
        Verdict verdict = Verdict.allow("model", "on the list");
        return new RequestVerdict(secret == null ? verdict : verdict.with(secret), "/v1", 403);
    }

    @ParameterizedTest
    @CsvSource({
        "127.0.0.1, false, true",
        "127.1.2.3, false, true",
        "::1, false, true",
        "10.0.0.1, false, false",
        "192.0.2.7, false, false",
        ", false, false",
        "192.0.2.7, true, true",
    })
    void withoutTlsItGoesToThisHostAlone(@Nullable String reached, boolean encrypted, boolean goes) throws Exception {
        var part = new SecretPart(peer(reached, encrypted), request(new HttpField("X-Key", SURROGATE)), 0);
        RequestVerdict checked = part.check(allowed("key"));
        assertEquals(goes, checked.verdict().allowed());
        if (goes) {
            String sent = new String(
                    HttpWriter.request(part.leaving("/v1", null), "model.example", Framing.NONE),
                    StandardCharsets.US_ASCII);
            assertTrue(sent.contains("\r\nX-Key: a-value-of-a-test\r\n"), sent);
        } else {
            assertEquals(
                    "the secret key is not sent without TLS, except to this host's own loopback",
                    checked.verdict().reason());
        }
    }

    /// It is asked again once it is where its rule leads; until then nothing is sent.
    @Test
    void whetherItGoesWithoutTlsIsToldWhereItGoes() throws Exception {
        var upstream = new HostPort("127.0.0.1", 8080);
        Verdict verdict = Verdict.allow("model", "on the list").with("key").via(upstream);
        var part = new SecretPart(peer("192.0.2.7", false), request(new HttpField("X-Key", SURROGATE)), 0);
        assertTrue(part.check(new RequestVerdict(verdict, "/v1", 403)).verdict().allowed());
        assertEquals("key", part.put());
        assertFalse(part.check(allowed("key")).verdict().allowed());
    }

    @Test
    void aSecretThatTheGatewayDoesNotHaveIsNoReasonToGoOnWithoutIt() throws Exception {
        var part = new SecretPart(peer("192.0.2.7", true), request(), 0);
        assertFalse(part.check(allowed("another")).verdict().allowed());
    }

    @Test
    void aHeadThatIsMadeOfSurrogatesIsRefused() throws Exception {
        var part = new SecretPart(
                peer("192.0.2.7", true), request(new HttpField("X-Key", (SURROGATE + " ").repeat(17))), 0);
        RequestVerdict checked = part.check(allowed("key"));
        assertFalse(checked.verdict().allowed());
        assertTrue(checked.verdict().reason().contains("more than 16 times"));
    }

    /// It was judged at one address, and then at another, under another rule.
    @Test
    void whatIsJudgedAgainIsFilledAgain() throws Exception {
        var part = new SecretPart(peer("192.0.2.7", true), request(new HttpField("X-Key", SURROGATE)), 0);
        assertTrue(part.check(allowed("key")).verdict().allowed());
        RequestVerdict again = part.check(allowed(null));
        assertFalse(again.verdict().allowed());
        assertTrue(again.verdict().reason().contains("exchanged only under rule model, in the header field x-key"));
    }
}
