package blackbox.query.egress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.TestEvents;
import blackbox.evidence.TestRun;
import blackbox.evidence.store.Recordings;
import blackbox.policy.Policy;
import blackbox.policy.text.PolicyReader;
import blackbox.query.egress.EgressCheck.JudgedFlow;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Text;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A run's egress is gathered, judged, and turned into a policy that allows it.
class EgressCheckTest {
    private static final Endpoint LOCAL = new Endpoint("10.0.2.15", 40_000);
    private static final int EHOSTUNREACH = -113;

    @TempDir
    Path folder;

    private TestRun run;
    private TestEvents events;

    @BeforeEach
    void record() throws Exception {
        run = new TestRun(folder).open("agent");
        events = new TestEvents(run);
    }

    private void program(int pid, String exe) {
        String name = exe.substring(exe.lastIndexOf('/') + 1);
        run.add(new Event.ProcessExec(
                events.guest(pid, 1, name), Text.of(exe), List.of(Text.of(name)), null, Text.of("/"), 0));
    }

    private void asked(String name, int type, String... answers) {
        run.add(new Event.DnsQuery(
                EventHeader.host(run.tick()),
                Text.of(name),
                type,
                Arrays.stream(answers).map(Text::of).toList(),
                "udp",
                LOCAL,
                new Endpoint("10.0.2.3", 53)));
    }

    /// Seen by the guest, as a program's, and by the host.
    private void connected(int pid, int localPort, String ip, int port) {
        var local = new Endpoint("10.0.2.15", localPort);
        var remote = new Endpoint(ip, port);
        run.add(new Event.NetCall(events.guest(pid, 1, "x"), Kind.NET_CONNECT, "tcp", null, remote, null, 0));
        run.add(new Event.NetFlow(
                events.guest(pid, 1, "x"), "tcp", local, remote, null, 90, 900, null, null, "closed"));
        run.add(new Event.NetFlow(
                EventHeader.host(run.tick()), "tcp", local, remote, null, 100, 1000, null, null, "closed"));
    }

    private void datagrams(String ip, int port) {
        run.add(new Event.NetFlow(
                EventHeader.host(run.tick()), "udp", LOCAL, new Endpoint(ip, port), null, 10, 20, null, null, "idle"));
    }

    private RecordedEgress egress() throws Exception {
        run.close(0);
        run.spool(0, run.batches.size());
        return EgressCollector.collect(Recordings.unchecked(folder), run.run);
    }

    private static Policy policy(String rules) throws Exception {
        return PolicyReader.read(("version: 1\n" + rules).getBytes(StandardCharsets.UTF_8));
    }

    private static Map<String, String> verdicts(EgressCheck check) {
        var verdicts = new TreeMap<String, String>();
        for (JudgedFlow each : check.flows()) {
            RecordedFlow.Peer peer = each.flow().peer();
            verdicts.put(
                    peer.protocol() + " " + (peer.host() == null ? peer.ip() : peer.host()) + " " + peer.port() + " "
                            + each.flow().exe(),
                    each.decision().verdict().word() + " " + each.decision().rule());
        }
        return verdicts;
    }

    @Test
    void eachFlowIsJudgedByNamePortAndProgram() throws Exception {
        program(10, "/usr/bin/git");
        program(11, "/usr/bin/curl");
        asked("raw.github.com", 1, "140.82.121.3");
        asked("evil.example", 1, "1.2.3.4");
        connected(10, 40_001, "140.82.121.3", 443);
        connected(10, 40_002, "140.82.121.3", 443);
        connected(11, 40_003, "140.82.121.3", 443);
        connected(11, 40_004, "1.2.3.4", 8080);
        connected(12, 40_005, "8.8.8.8", 22);
        datagrams("8.8.8.8", 443);
        datagrams("10.0.2.3", 53);
        run.add(new Event.NetCall(
                events.guest(11, 1, "curl"),
                Kind.NET_CONNECT,
                "tcp",
                null,
                new Endpoint("169.254.169.254", 80),
                null,
                EHOSTUNREACH));
        run.add(new Event.NetCall(
                events.guest(11, 1, "curl"), Kind.NET_CONNECT, "udp", null, new Endpoint("9.9.9.9", 53), null, 0));
        connected(11, 40_006, "127.0.0.1", 8000);
        EgressCheck check = EgressCheck.of(
                policy("rules: [{id: gh, host: \"*.github.com\", methods: [GET], process: {exe: /usr/bin/git}}]\n"),
                egress());
        assertEquals(
                new TreeMap<>(Map.of(
                        "tcp raw.github.com 443 /usr/bin/git", "allow gh",
                        "tcp raw.github.com 443 /usr/bin/curl", "deny default",
                        "tcp evil.example 8080 /usr/bin/curl", "deny default",
                        "tcp 8.8.8.8 22 null", "deny default",
                        "udp 8.8.8.8 443 null", "deny builtin:quic",
                        "tcp 169.254.169.254 80 /usr/bin/curl", "deny builtin:metadata")),
                verdicts(check));
        assertEquals(5, check.refused());
        assertFalse(check.holds());
        RecordedFlow git = check.flows().getLast().flow();
        assertEquals(List.of(2L, 200L, 2000L), List.of(git.count(), git.bytesOut(), git.bytesIn()));
        assertTrue(check.limits().getFirst().startsWith("1 of the allowed are allowed as far as"), check::toString);
        assertTrue(check.limits().get(1).startsWith("1 exchanges of DNS and DHCP"), check::toString);
    }

    /// A flow that only the host saw is a program's only if no other one connected to that peer.
    @Test
    void noProgramIsGuessed() throws Exception {
        program(10, "/usr/bin/git");
        program(11, "/usr/bin/curl");
        for (String ip : List.of("140.82.121.3", "140.82.121.4")) {
            var remote = new Endpoint(ip, 443);
            run.add(new Event.NetCall(events.guest(10, 1, "git"), Kind.NET_CONNECT, "tcp", null, remote, null, 0));
            run.add(new Event.NetFlow(
                    EventHeader.host(run.tick()), "tcp", LOCAL, remote, null, 1, 1, null, null, "closed"));
        }
        run.add(new Event.NetCall(
                events.guest(11, 1, "curl"),
                Kind.NET_CONNECT,
                "tcp",
                null,
                new Endpoint("140.82.121.4", 443),
                null,
                0));
        assertEquals(
                Arrays.asList("/usr/bin/git", null),
                egress().flows().stream().map(RecordedFlow::exe).toList());
    }

    @Test
    void namesThatWouldNotBeAnsweredAreSaidAndDoNotCount() throws Exception {
        asked("a.example", 1);
        asked("a.example", 28);
        asked("c2VjcmV0.tunnel.example", 16);
        asked("c2VjcmV0.tunnel.example", 10);
        EgressCheck check = EgressCheck.of(policy("rules: [{id: a, host: a.example}]\n"), egress());
        assertTrue(check.holds());
        assertEquals(2, check.unanswered());
        assertEquals(
                List.of("TXT default", "TYPE10 builtin:dns-type", "A a", "AAAA a"),
                check.names().stream()
                        .map(each -> each.name().type() + " " + each.decision().rule())
                        .toList());
    }

    @Test
    void aSuggestionAllowsWhatItWasMadeFromAndNothingElse() throws Exception {
        program(10, "/usr/bin/git");
        program(11, "/opt/a \"b\" \\c");
        asked("raw.github.com", 1, "140.82.121.3");
        asked("db.corp.example", 1, "10.20.3.4");
        asked("b\\195\\188cher.example", 1, "140.82.121.9");
        asked("example.org", 16);
        asked("never.example", 1, "9.9.9.9");
        connected(10, 40_001, "140.82.121.3", 443);
        connected(11, 40_002, "140.82.121.3", 80);
        connected(11, 40_003, "10.20.3.4", 5432);
        connected(12, 40_004, "140.82.121.7", 22);
        connected(11, 40_005, "140.82.121.9", 443);
        RecordedEgress egress = egress();
        String text = PolicySuggestion.of(List.of(egress), List.of("a\nmode: observe"));
        Policy policy = PolicyReader.read(text.getBytes(StandardCharsets.UTF_8));
        EgressCheck check = EgressCheck.of(policy, egress);
        assertEquals(
                List.of("tcp b\\195\\188cher.example 443 /opt/a \"b\" \\c"),
                verdicts(check).entrySet().stream()
                        .filter(each -> !each.getValue().startsWith("allow"))
                        .map(Map.Entry::getKey)
                        .toList(),
                text);
        assertEquals(4, policy.rules().size(), text);
        assertTrue(text.contains("#   tcp 140.82.121.9 port 443: the name that was asked for is no host name"), text);
        assertTrue(text.contains("#   never.example\n"), text);
        assertTrue(text.contains("types: [TXT]"), text);
        assertTrue(text.contains("# connections: 1, octets out: 100, in: 1000; not all programs are known"), text);
        EgressCheck other = EgressCheck.of(
                policy,
                new RecordedEgress(
                        run.run,
                        List.of(new RecordedFlow(
                                new RecordedFlow.Peer("tcp", "raw.github.com", "140.82.121.3", 22),
                                "/usr/bin/git",
                                0,
                                1,
                                0,
                                0)),
                        List.of(),
                        List.of()));
        assertFalse(other.holds());
    }

    @Test
    void whatNoPolicyAllowsIsAComment() throws Exception {
        program(10, "/usr/bin/curl");
        connected(10, 40_001, "169.254.169.254", 80);
        datagrams("8.8.8.8", 443);
        String text = PolicySuggestion.of(List.of(egress()), List.of("agent"));
        Policy policy = PolicyReader.read(text.getBytes(StandardCharsets.UTF_8));
        assertEquals(List.of(), policy.rules());
        assertTrue(text.contains("#   tcp 169.254.169.254 port 80: 169.254.169.254 is where a cloud serves"), text);
        assertTrue(text.contains("#   udp 8.8.8.8 port 443: only TCP can be allowed"), text);
    }
}
