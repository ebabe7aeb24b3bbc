package blackbox.gateway;

import static blackbox.gateway.Inspected.head;
import static blackbox.gateway.Inspected.octets;
import static blackbox.gateway.Inspected.say;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.gateway.egress.HttpExchange;
import blackbox.gateway.egress.Inspection;
import blackbox.gateway.egress.Passage;
import blackbox.gateway.egress.RequestHead;
import blackbox.gateway.egress.RequestVerdict;
import blackbox.gateway.egress.Ruling;
import blackbox.gateway.egress.SecretUse;
import blackbox.gateway.egress.Verdict;
import blackbox.gateway.secret.GuestSecret;
import blackbox.gateway.secret.SecretPlace;
import blackbox.gateway.secret.SecretValue;
import blackbox.gateway.secret.Secrets;
import blackbox.gateway.secret.Surrogates;
import java.net.Socket;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Secrets that are told in bodies, as token endpoints ask for them.
class SecretBodyTest {
    private static final String VALUE = "client-Zk9/Qx+V\"b7 Lr&2P=w5T";
    private static final String JSON = "application/json";
    private static final String FORM = "application/x-www-form-urlencoded";
    private static final String AS_FORM =
            URLEncoder.encode(VALUE, StandardCharsets.US_ASCII).replace("+", "%20");
    private static final String AS_JSON = VALUE.replace("\"", "\\\"").replace("/", "\\/");

    @TempDir
    Path folder;

    private Passage passage = Passage.FREE;
    private final String surrogate = Surrogates.of(value(), new SecureRandom());

    private static SecretValue value() {
        return new SecretValue(VALUE.getBytes(StandardCharsets.US_ASCII));
    }

    private Inspected inspected(String place) throws Exception {
        var secrets = Secrets.of(
                List.of(new GuestSecret("client", surrogate, SecretPlace.parse(place), List.of("token"), value())),
                host -> host.equals(Inspected.NAME));
        var settings = new InspectionSettings(Duration.ofSeconds(10), Duration.ofSeconds(30));
        return new Inspected(folder, Inspection.REQUESTS, this::judge, settings, secrets);
    }

    private RequestVerdict judge(RequestHead head) {
        return new RequestVerdict(Verdict.allow("token", "on the list").with("client"), head.target(), 403, passage);
    }

    private static String post(String type, String body, String... fields) {
        return "POST /token HTTP/1.1\r\nHost: ok.local\r\nContent-Type: " + type + "\r\n"
                + String.join("", List.of(fields)) + "Content-Length: " + body.length() + "\r\n\r\n" + body;
    }

    private static String left(String type, String body) {
        return "POST /token HTTP/1.1\r\nHost: ok.local\r\nContent-Type: " + type
                + "\r\nAccept-Encoding: identity\r\nContent-Length: " + body.length() + "\r\n\r\n" + body;
    }

    private void assertLeaves(String place, String type, String said, String leaves, SecretUse.How how)
            throws Exception {
        try (var it = inspected(place)) {
            Socket guest = it.guest();
            say(guest, post(type, said));
            String expected = left(type, leaves);
            Socket server = it.server();
            assertEquals(expected, octets(server, expected.length()));
            say(server, "HTTP/1.1 204 No Content\r\n\r\n");
            head(guest);
            it.served.listener.await("no use", listener -> !listener.uses().isEmpty());
            SecretUse use = it.served.listener.uses().getFirst();
            assertEquals(how, use.how());
            assertEquals(how == SecretUse.How.PUT ? 1 : 0, use.count());
            // What the record has of it is what the guest said.
            HttpExchange told = it.exchanges(1).getFirst();
            assertEquals(said.length(), told.request().octets());
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(said.getBytes(StandardCharsets.US_ASCII));
            assertEquals(HexFormat.of().formatHex(digest), told.request().sha256());
        }
    }

    @Test
    void itIsPutWhereTheSurrogateIsTheWholeValueAndNowhereElse() throws Exception {
        String json = "{ \"a\": \"%1$s\", \"auth\" : {\"key\":\"%2$s\", \"n\":[1.50, \"%1$s\"]}, \"more\": \"x%1$s\" }";
        assertLeaves(
                "body:/auth/key",
                JSON + "; charset=utf-8",
                json.formatted(surrogate, surrogate),
                json.formatted(surrogate, AS_JSON),
                SecretUse.How.PUT);
        assertLeaves(
                "body:/auth/1",
                "application/vnd.api+json",
                "{\"auth\":[\"\", \"" + surrogate.replace("-", "\\u002d") + "\"]}",
                "{\"auth\":[\"\", \"" + AS_JSON + "\"]}",
                SecretUse.How.PUT);
        String form = "grant_type=client_credentials&client_id=%1$s&client_secret=%2$s&client_secret=other&x";
        assertLeaves(
                "body:/client_secret",
                FORM,
                form.formatted(surrogate, surrogate),
                form.formatted(surrogate, AS_FORM),
                SecretUse.How.PUT);
        assertLeaves(
                "body:/client_secret",
                FORM,
                "client%5Fsecret=" + surrogate.replace("-", "%2D"),
                "client%5Fsecret=" + AS_FORM,
                SecretUse.How.PUT);
    }

    /// A form of almost a mebibyte; a reader that calls itself for each octet would end long before.
    @Test
    void longBodiesAndEveryWayToSayUtf8AreRead() throws Exception {
        String more = "&a=" + "x%41".repeat(250_000) + "&b=" + "y".repeat(40_000);
        assertLeaves("body:/key", FORM, "key=" + surrogate + more, "key=" + AS_FORM + more, SecretUse.How.PUT);
        for (String charset : List.of("utf-8", "UTF-8", "\"utf-8\"", " utf-8", " \"UTF8\"", "us-ascii")) {
            assertLeaves(
                    "body:/key",
                    JSON + "; charset=" + charset,
                    "{\"key\":\"" + surrogate + "\"}",
                    "{\"key\":\"" + AS_JSON + "\"}",
                    SecretUse.How.PUT);
        }
    }

    @Test
    void whatIsNotThereIsToldAndLeavesAsItIs() throws Exception {
        for (String body : List.of("{\"key\":\"x" + surrogate + "\"}", "{\"keys\":\"" + surrogate + "\"}", "[]")) {
            assertLeaves("body:/key", JSON, body, body, SecretUse.How.ABSENT);
        }
        String form = "keys=" + surrogate + "&key=&key";
        assertLeaves("body:/key", FORM, form, form, SecretUse.How.ABSENT);
        assertLeaves("body:/key/deeper", FORM, "key=" + surrogate, "key=" + surrogate, SecretUse.How.ABSENT);
        for (String type : List.of("text/plain", "application/x-ndjson", "multipart/form-data; boundary=x")) {
            assertLeaves("body:/key", type, "key=" + surrogate, "key=" + surrogate, SecretUse.How.ABSENT);
        }
        assertLeaves("body:/key", JSON, "\"" + surrogate + "\"", "\"" + surrogate + "\"", SecretUse.How.ABSENT);
        String array = "[[\"" + surrogate + "\"],{\"key\":[\"" + surrogate + "\"]}]";
        assertLeaves("body:/1/key", JSON, array, array, SecretUse.How.ABSENT);
    }

    @Test
    void aBodyThatCannotBeReadIsRefusedBeforeAnybodyHearsOfIt() throws Exception {
        String there = "{\"key\":\"" + surrogate + "\"";
        assertRefused(JSON, there, "it is not JSON");
        assertRefused(JSON, there + ",\"key\":\"" + surrogate + "\"}", "more than once");
        assertRefused(JSON, "\u00ef\u00bb\u00bf" + there + "}", "byte order mark");
        assertRefused(JSON, there + "} {}", "more behind it");
        assertRefused(JSON, there + "}\0\0", "it is not JSON");
        assertRefused(JSON + "; charset=shift_jis", there + "}", "charset");
        assertRefused(JSON + "; charset=\"utf-16\"", there + "}", "charset");
        assertRefused(JSON, "{\0\"\0k\0\"\0:\0001\0}\0", "not in UTF-8");
        assertRefused(JSON, "[".repeat(300) + "]".repeat(300), "it is not JSON");
        assertRefused("text/plain", there + "}", "more than one Content-Type", "Content-Type: a/b+json\r\n");
        // Whoever reads JSON whatever the type is must not find the value in another place.
        assertRefused(FORM, "{\"note\":\"&key=" + surrogate + "&\"}", "encoded throughout");
        assertRefused(FORM, "key=" + surrogate + "&%g0=1", "encoded throughout");
        assertRefused(FORM, "key=" + surrogate + "&a=b c", "encoded throughout");
        assertRefused(FORM, "key=" + surrogate + "&key=" + surrogate, "more than once");
        assertRefused(JSON, there + "}", "which is compressed", "Content-Encoding: gzip\r\n");
        assertRefused(JSON, "\"" + "x".repeat((1 << 20) + 1) + "\"", "must be read whole");
    }

    private void assertRefused(String type, String body, String why, String... fields) throws Exception {
        try (var it = inspected("body:/key")) {
            Socket guest = it.guest();
            say(guest, post(type, body, fields));
            assertTrue(head(guest).startsWith("HTTP/1.1 403 "), why);
            it.served.listener.await(
                    "no exchange", listener -> !listener.exchanges().isEmpty());
            assertTrue(
                    it.served.listener.decisions().stream()
                            .anyMatch(each -> !each.allowed() && each.reason().contains(why)),
                    () -> it.served.listener.decisions().toString());
            assertFalse(it.served.listener.uses().stream().anyMatch(each -> each.how() == SecretUse.How.PUT));
        }
    }

    /// Without TLS a value goes to this host's loopback alone, which all of these servers are; HTTP/2 has no
    /// passages.
    @Test
    void overHttp2ItIsRefused() throws Exception {
        try (var it = inspected("body:/key");
                Http2Peer guest = Http2Test.guest(it);
                Http2Peer server = Http2Test.server(it)) {
            Http2Peer.Stream upload = guest.request(
                    false,
                    ":method",
                    "POST",
                    ":scheme",
                    "https",
                    ":authority",
                    "ok.local",
                    ":path",
                    "/token",
                    "content-type",
                    JSON);
            upload.data("{\"key\":\"" + surrogate + "\"}", true);
            assertTrue(upload.awaitWhole().contains("secrets in bodies go over HTTP/1.1 only"));
            assertFalse(server.hasStreams());
        }
    }

    /// A budget that the value does not fit into stops it, and then it was not put.
    @Test
    void whatABudgetStopsIsNotPut() throws Exception {
        passage = new Passage() {
            @Override
            public @Nullable Ruling sends(long octets) {
                return octets < 40 ? null : new Ruling(Verdict.spent("token", "spent"), null, null, 429, null);
            }
        };
        try (var it = inspected("body:/key")) {
            Socket guest = it.guest();
            say(guest, post(JSON, "{\"key\":\"" + surrogate + "\"}"));
            assertTrue(head(guest).startsWith("HTTP/1.1 429 "));
            it.exchanges(1);
            assertTrue(
                    it.served.listener.uses().isEmpty(),
                    () -> it.served.listener.uses().toString());
        }
    }

    @Test
    void bodiesInPiecesAreWholeFirst() throws Exception {
        try (var it = inspected("body:/key")) {
            Socket guest = it.guest();
            String body = "{\"key\":\"" + surrogate + "\"}";
            say(
                    guest,
                    "POST /token HTTP/1.1\r\nHost: ok.local\r\nContent-Type: " + JSON
                            + "\r\nTransfer-Encoding: chunked\r\n\r\n");
            for (int at = 0; at < body.length(); at++) {
                say(guest, "1\r\n" + body.charAt(at) + "\r\n");
            }
            say(guest, "0\r\n\r\n");
            String leaves = "{\"key\":\"" + AS_JSON + "\"}";
            Socket server = it.server();
            String expected = "POST /token HTTP/1.1\r\nHost: ok.local\r\nContent-Type: " + JSON
                    + "\r\nAccept-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + Integer.toHexString(leaves.length()) + "\r\n" + leaves + "\r\n0\r\n\r\n";
            assertEquals(expected, octets(server, expected.length()));
            say(server, "HTTP/1.1 401 No\r\nContent-Length: " + leaves.length() + "\r\n\r\n" + leaves);
            head(guest);
            assertTrue(it.exchanges(1).getFirst().status() == 401);
            assertEquals(1, SecretTest.use(it, SecretUse.How.REFLECTED).count(), "the server says it again");
            // A request without a body has no place for it.
            say(guest, "GET /me HTTP/1.1\r\nHost: ok.local\r\n\r\n");
            assertTrue(head(it.server()).startsWith("GET /me HTTP/1.1\r\n"));
            assertEquals(0, SecretTest.use(it, SecretUse.How.ABSENT).count());
        }
    }
}
