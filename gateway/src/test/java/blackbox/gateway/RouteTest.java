package blackbox.gateway;

import static blackbox.gateway.Inspected.head;
import static blackbox.gateway.Inspected.octets;
import static blackbox.gateway.Inspected.say;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.gateway.egress.HostPort;
import blackbox.gateway.egress.Inspection;
import blackbox.gateway.egress.Passage;
import blackbox.gateway.egress.RequestHead;
import blackbox.gateway.egress.RequestVerdict;
import blackbox.gateway.egress.Ruling;
import blackbox.gateway.egress.Verdict;
import blackbox.gateway.secret.GuestSecret;
import blackbox.gateway.secret.SecretPlace;
import blackbox.gateway.secret.SecretValue;
import blackbox.gateway.secret.Secrets;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// One connection of a guest, whose requests go to several places or have several secrets: each has a connection to the
/// other side that none of the others ever used.
class RouteTest {
    private static final String ANSWER = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";

    @TempDir
    Path folder;

    private ServerSocket elsewhere;

    @BeforeEach
    void listen() throws IOException {
        elsewhere = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        elsewhere.setSoTimeout((int) TestGuest.LIMIT.toMillis());
    }

    @AfterEach
    void close() throws IOException {
        elsewhere.close();
    }

    private static GuestSecret secret(String id) {
        return new GuestSecret(
                id,
                "surrogate-of-" + id + "-0123456789",
                SecretPlace.parse(null),
                List.of(id),
                new SecretValue(("value-of-" + id).getBytes(StandardCharsets.US_ASCII)));
    }

    private Inspected inspected() throws Exception {
        var secrets = Secrets.of(List.of(secret("one"), secret("two")), host -> true);
        var settings = new InspectionSettings(Duration.ofSeconds(10), Duration.ofSeconds(30));
        return new Inspected(folder, Inspection.REQUESTS, this::judge, settings, secrets);
    }

    /// `/SECRET/…` goes with that secret; what ends in `/elsewhere` goes to another upstream.
    private RequestVerdict judge(RequestHead head) {
        Verdict verdict = Verdict.allow("rule", "on the list");
        String secret = head.target().split("/")[1];
        if (!secret.equals("none")) {
            verdict = verdict.with(secret);
        }
        if (head.target().endsWith("/elsewhere")) {
            verdict = verdict.via(new HostPort("127.0.0.1", elsewhere.getLocalPort()));
        } else if (head.target().endsWith("/observed")) {
            verdict = Verdict.wouldDeny("default", "no rule allows it");
        }
        return new RequestVerdict(verdict, head.target(), 403);
    }

    private static void ask(Socket guest, String target, String... fields) throws IOException {
        say(guest, "GET " + target + " HTTP/1.1\r\nHost: ok.local\r\n" + String.join("", fields) + "\r\n");
    }

    private static String key(String secret) {
        return "Authorization: Bearer surrogate-of-" + secret + "-0123456789\r\n";
    }

    private static void assertAnswered(Socket guest, Socket server, String target, String credential)
            throws IOException {
        String asked = head(server);
        assertTrue(asked.startsWith("GET " + target + " "), asked);
        assertEquals(credential, asked.contains("value-of-") ? asked.replaceAll("(?s).*value-of-(\\w+).*", "$1") : "");
        say(server, ANSWER);
        assertEquals(ANSWER, head(guest) + octets(guest, 5));
    }

    private static void assertClosed(Socket server) throws IOException {
        assertEquals(-1, server.getInputStream().read(), "nothing more came, and it was closed");
    }

    @Test
    void aRequestGoesWhereItsOwnRuleSays() throws Exception {
        try (var it = inspected()) {
            Socket guest = it.guest();
            ask(guest, "/none/a");
            Socket here = it.server();
            assertAnswered(guest, here, "/none/a", "");
            ask(guest, "/one/elsewhere", key("one"));
            try (Socket there = elsewhere.accept()) {
                there.setSoTimeout((int) TestGuest.LIMIT.toMillis());
                assertAnswered(guest, there, "/one/elsewhere", "one");
                assertClosed(here);
                ask(guest, "/one/b/elsewhere", key("one"));
                assertAnswered(guest, there, "/one/b/elsewhere", "one");
                // What no rule allows goes on in observe mode, to where it would have gone, over another connection.
                ask(guest, "/none/observed");
                try (Socket again = elsewhere.accept()) {
                    assertAnswered(guest, again, "/none/observed", "");
                    assertClosed(there);
                }
            }
        }
    }

    @Test
    void theFirstRequestToo() throws Exception {
        try (var it = inspected()) {
            Socket guest = it.guest();
            ask(guest, "/one/elsewhere", key("one"));
            try (Socket there = elsewhere.accept()) {
                assertAnswered(guest, there, "/one/elsewhere", "one");
            }
            assertClosed(it.server());
        }
    }

    /// It is counted once, by what was decided there.
    @Test
    void whatGoesElsewhereBeginsThere() throws Exception {
        var given = new AtomicInteger();
        List<Integer> begun = Collections.synchronizedList(new ArrayList<>());
        try (var it = new Inspected(folder, Inspection.REQUESTS, head -> {
            int number = given.incrementAndGet();
            RequestVerdict verdict = judge(head);
            return new RequestVerdict(verdict.verdict(), verdict.target(), verdict.status(), new Passage() {
                @Override
                public @Nullable Ruling begins() {
                    begun.add(number);
                    return null;
                }
            });
        })) {
            Socket guest = it.guest();
            ask(guest, "/none/elsewhere");
            try (Socket there = elsewhere.accept()) {
                there.setSoTimeout((int) TestGuest.LIMIT.toMillis());
                assertAnswered(guest, there, "/none/elsewhere", "");
                assertEquals(List.of(2), begun, "it was judged twice");
                ask(guest, "/none/b/elsewhere");
                assertAnswered(guest, there, "/none/b/elsewhere", "");
                assertEquals(List.of(2, 3), begun);
            }
        }
    }

    @Test
    void aConnectionHasOneSecretOrNone() throws Exception {
        try (var it = inspected()) {
            Socket guest = it.guest();
            ask(guest, "/one/a", key("one"));
            Socket first = it.server();
            assertAnswered(guest, first, "/one/a", "one");
            ask(guest, "/one/b", key("one"));
            assertAnswered(guest, first, "/one/b", "one");
            ask(guest, "/two/a", key("two"));
            Socket second = it.server();
            assertAnswered(guest, second, "/two/a", "two");
            assertClosed(first);
            // Of the same rule, and without it.
            ask(guest, "/two/b");
            Socket third = it.server();
            assertAnswered(guest, third, "/two/b", "");
            assertClosed(second);
            ask(guest, "/none/c");
            assertAnswered(guest, third, "/none/c", "");
            ask(guest, "/one/d", key("one"));
            assertAnswered(guest, it.server(), "/one/d", "one");
            assertClosed(third);
        }
    }
}
