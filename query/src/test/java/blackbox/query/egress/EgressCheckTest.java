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
import org.jspecify.annotations.Nullable;
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

    /// A flow that the host saw, with a name that the guest said.
    private void said(int localPort, String ip, int port, String name) {
        run.add(new Event.NetFlow(
                EventHeader.host(run.tick()),
                "tcp",
                new Endpoint("10.0.2.15", localPort),
                new Endpoint(ip, port),
                Text.of(name),
                100,
                1000,
                null,
                null,
                "closed"));
    }

    private void other(String protocol, String ip, int port) {
        run.add(new Event.NetFlow(
                EventHeader.host(run.tick()),
                protocol,
                LOCAL,
                new Endpoint(ip, port),
                null,
                10,
                0,
                null,
                null,
                "idle"));
    }

    private void decided(String verdict, int localPort, String ip, @Nullable String host, String detail) {
        run.add(new Event.EgressDecision(
                EventHeader.host(run.tick()),
                verdict,
                "tcp",
                new Endpoint("10.0.2.15", localPort),
                new Endpoint(ip, 443),
                host == null ? null : Text.of(host),
                detail));
    }

    private static String suggested(RecordedEgress egress) {
        return PolicySuggestion.of(List.of(egress), List.of("agent"), new PolicySuggestion.Options(false, false));
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
                    each.verdict()
                            + (each.decision() == null
                                    ? ""
                                    : " " + each.decision().rule()));
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
        var inside = new Endpoint("127.0.0.1", 8000);
        run.add(new Event.NetCall(events.guest(11, 1, "curl"), Kind.NET_CONNECT, "tcp", null, inside, null, 0));
        run.add(new Event.NetFlow(
                events.guest(11, 1, "curl"), "tcp", LOCAL, inside, null, 90, 900, null, null, "closed"));
        said(40_006, "127.0.0.1", 8001, "localhost"); // which the host saw, so it has left the guest
        EgressCheck check = EgressCheck.of(
                policy("rules: [{id: gh, host: \"*.github.com\", methods: [GET], process: {exe: /usr/bin/git},"
                        + " budget: {requests: 1}}]\n"),
                egress());
        assertEquals(
                new TreeMap<>(Map.of(
                        "tcp raw.github.com 443 /usr/bin/git", "allow gh",
                        "tcp raw.github.com 443 /usr/bin/curl", "deny default",
                        "tcp evil.example 8080 /usr/bin/curl", "deny default",
                        "tcp 127.0.0.1 8001 null", "deny builtin:loopback",
                        "tcp 8.8.8.8 22 null", "deny default",
                        "udp 8.8.8.8 443 null", "deny builtin:quic",
                        "tcp 169.254.169.254 80 /usr/bin/curl", "deny builtin:metadata")),
                verdicts(check));
        assertEquals(6, check.refused());
        assertFalse(check.holds());
        RecordedFlow git = check.flows().getLast().flow();
        assertEquals(List.of(2L, 200L, 2000L), List.of(git.count(), git.bytesOut(), git.bytesIn()));
        assertTrue(check.limits().getFirst().startsWith("1 of the allowed are allowed as far as"), check::toString);
        assertTrue(check.limits().get(1).startsWith("budgets are not judged here"), check::toString);
        assertTrue(check.limits().get(2).startsWith("1 exchanges with the guest's own network"), check::toString);
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
        String text = PolicySuggestion.of(
                List.of(egress), List.of("a\nmode: observe"), new PolicySuggestion.Options(true, true));
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
        assertTrue(text.contains("# not all programs are known, so any may"), text);
        var peer = new RecordedFlow.Peer("tcp", "raw.github.com", null, "140.82.121.3", 22);
        EgressCheck other = EgressCheck.of(
                policy,
                new RecordedEgress(
                        run.run,
                        false,
                        0,
                        List.of(new RecordedFlow(peer, "/usr/bin/git", 0, 1, 0, 0)),
                        List.of(),
                        List.of(),
                        List.of()));
        assertFalse(other.holds());
    }

    @Test
    void whatNoPolicyAllowsIsAComment() throws Exception {
        program(10, "/usr/bin/curl");
        connected(10, 40_001, "169.254.169.254", 80);
        datagrams("8.8.8.8", 443);
        asked("metadata", 1, "140.82.121.4");
        connected(10, 40_002, "140.82.121.4", 443);
        String text = suggested(egress());
        assertTrue(text.contains("#   tcp metadata port 443: the name stands for the recording host"), text);
        Policy policy = PolicyReader.read(text.getBytes(StandardCharsets.UTF_8));
        assertEquals(List.of(), policy.rules());
        assertTrue(text.contains("#   tcp 169.254.169.254 port 80: 169.254.169.254 is where a cloud serves"), text);
        assertTrue(text.contains("#   udp 8.8.8.8 port 443: only TCP can be allowed"), text);
    }

    @Test
    void onlyTheGuestsOwnNetworkIsExempt() throws Exception {
        datagrams("6.6.6.6", 53);
        datagrams("6.6.6.6", 67);
        datagrams("6.6.6.6", 547);
        other("1", "6.6.6.6", 0);
        other("47", "6.6.6.6", 0);
        datagrams("10.0.2.3", 53);
        datagrams("255.255.255.255", 67);
        other("58", "ff02::16", 0);
        RecordedEgress egress = egress();
        EgressCheck check = EgressCheck.of(policy("rules: [{id: a, host: a.example}]\n"), egress);
        assertEquals(
                new TreeMap<>(Map.of(
                        "udp 6.6.6.6 53 null", "deny builtin:udp",
                        "udp 6.6.6.6 67 null", "deny builtin:udp",
                        "udp 6.6.6.6 547 null", "deny builtin:udp",
                        "1 6.6.6.6 0 null", "not-judged",
                        "47 6.6.6.6 0 null", "not-judged")),
                verdicts(check));
        assertEquals(2, check.notJudged());
        assertTrue(check.limits().getFirst().startsWith("3 exchanges with"), check::toString);
        assertTrue(suggested(egress).contains("#   udp 6.6.6.6 port 53: only TCP can be allowed"));
    }

    @Test
    void framesWithoutIpGoNoFurtherAndAreNotJudged() throws Exception {
        for (String protocol : List.of("arp", "ether-88cc")) {
            run.add(new Event.NetFlow(
                    EventHeader.host(run.tick()), protocol, null, null, null, 84, 128, null, null, "idle"));
        }
        EgressCheck check = EgressCheck.of(policy("rules: [{id: a, host: a.example}]\n"), egress());
        assertTrue(check.holds());
        assertTrue(
                check.limits().stream().anyMatch(each -> each.startsWith("2 events are of frames without IP")),
                check::toString);
    }

    /// A process that was cloned as its parent's sibling runs its maker's program, not its parent's.
    @Test
    void aConnectionIsThatOfTheProgramThatTheKernelRan() throws Exception {
        program(10, "/usr/bin/git");
        var remote = new Endpoint("140.82.121.3", 443);
        run.add(new Event.NetSyn(
                events.guest(10, 1, "git"),
                "tcp",
                new Endpoint("10.0.2.15", 40_001),
                remote,
                7L,
                Text.of("/usr/bin/python3.11")));
        connected(10, 40_001, remote.ip(), 443);
        assertEquals(
                List.of("/usr/bin/python3.11"),
                egress().flows().stream().map(RecordedFlow::exe).toList());
    }

    @Test
    void whatCannotBeJudgedDoesNotHold() throws Exception {
        other("1", "6.6.6.6", 0);
        assertFalse(EgressCheck.of(policy("rules: [{id: a, host: a.example}]\n"), egress())
                .holds());
    }

    @Test
    void whatIsNotListedDoesNotHold() throws Exception {
        Policy policy = policy("rules: [{id: a, host: a.example}]\n");
        for (long unkept : List.of(0L, 1L)) {
            var egress = new RecordedEgress(run.run, false, unkept, List.of(), List.of(), List.of(), List.of());
            assertEquals(unkept == 0, EgressCheck.of(policy, egress).holds());
        }
    }

    /// Zones are the guest's; the address is link-local whatever they are.
    @Test
    void aScopedAddressIsJudged() throws Exception {
        connected(10, 1, "fe80::1%eth0", 443);
        assertEquals(
                Map.of("tcp fe80::1%eth0 443 null", "deny builtin:link-local"),
                verdicts(EgressCheck.of(policy("rules: [{id: a, host: a.example}]\n"), egress())));
    }

    @Test
    void aNameCountsOnlyIfTheNetworksResolverGaveItTheAddressBefore() throws Exception {
        said(1, "6.6.6.1", 443, "api.example"); // nothing resolved it
        asked("api.example", 1, "1.1.1.1", "1.1.1.2");
        said(2, "6.6.6.2", 443, "api.example"); // to another address
        said(3, "1.1.1.1", 443, "API.example");
        connected(10, 4, "1.1.1.2", 443);
        said(5, "6.6.6.3", 443, "api.example");
        asked("api.example", 1, "6.6.6.3"); // too late
        run.add(new Event.DnsQuery(
                EventHeader.host(run.tick()),
                Text.of("api.example"),
                1,
                List.of(Text.of("6.6.6.4")),
                "udp",
                LOCAL,
                new Endpoint("6.6.6.6", 53)));
        connected(10, 6, "6.6.6.4", 443); // by a resolver of the guest's own
        run.add(new Event.DnsQuery(
                events.guest(10, 1, "x"),
                Text.of("api.example"),
                1,
                List.of(Text.of("6.6.6.5")),
                "udp",
                LOCAL,
                new Endpoint("10.0.2.3", 53)));
        connected(10, 7, "6.6.6.5", 443); // by the guest's word
        RecordedEgress egress = egress();
        EgressCheck check = EgressCheck.of(policy("rules: [{id: a, host: api.example}]\n"), egress);
        assertEquals(
                new TreeMap<>(Map.of(
                        "tcp 6.6.6.1 443 null", "deny default",
                        "tcp 6.6.6.2 443 null", "deny default",
                        "tcp 6.6.6.3 443 null", "deny default",
                        "tcp 6.6.6.4 443 null", "deny default",
                        "tcp 6.6.6.5 443 null", "deny default",
                        "tcp API.example 443 null", "allow a",
                        "tcp api.example 443 null", "allow a")),
                verdicts(check));
        JudgedFlow claimed = check.flows().getFirst();
        assertEquals("api.example", claimed.flow().peer().claimed());
        assertTrue(String.valueOf(claimed.note()).contains("that name is not believed"), claimed::toString);
        assertEquals(
                "allow b",
                verdicts(EgressCheck.of(policy("rules: [{id: b, address: [6.6.6.1]}]\n"), egress))
                        .get("tcp 6.6.6.1 443 null"));
        assertTrue(suggested(egress).contains("address: [\"6.6.6.1\"]"));
    }

    @Test
    void anUpstreamDoesNotExcuseWhereAFlowWent() throws Exception {
        asked("model.example", 1, "10.9.9.9");
        connected(10, 1, "10.9.9.9", 443);
        connected(10, 2, "10.0.2.2", 8080);
        assertEquals(
                new TreeMap<>(Map.of(
                        "tcp 10.0.2.2 8080 null", "deny builtin:loopback",
                        "tcp model.example 443 null", "deny builtin:private")),
                verdicts(EgressCheck.of(
                        policy("rules: [{id: m, host: model.example, upstream: \"127.0.0.1:8080\"},"
                                + " {id: h, address: [10.0.2.2], ports: [8080]}]\n"),
                        egress())));
    }

    @Test
    void flowsOfOneSourcePortStayApart() throws Exception {
        program(10, "/bin/evil");
        program(11, "/usr/bin/git");
        asked("evil.example", 1, "1.2.3.4");
        connected(10, 5555, "1.2.3.4", 443);
        asked("api.example", 1, "1.2.3.4");
        connected(11, 5555, "1.2.3.4", 443);
        run.add(new Event.NetCall(
                events.guest(12, 1, "x"), Kind.NET_CONNECT, "tcp", null, new Endpoint("1.2.3.4", 443), null, -111));
        EgressCheck check =
                EgressCheck.of(policy("rules: [{id: a, host: api.example, process: {exe: /usr/bin/git}}]\n"), egress());
        assertEquals("allow a", verdicts(check).get("tcp api.example 443 /usr/bin/git"), check::toString);
        assertEquals("deny default", verdicts(check).get("tcp evil.example 443 /bin/evil"), check::toString);
        assertEquals("deny default", verdicts(check).get("tcp api.example 443 null"), check::toString);
    }

    /// The guest saw two flows where the host saw one.
    @Test
    void flowsThatCannotBePairedAreJudgedForEachProgram() throws Exception {
        program(10, "/bin/evil");
        program(11, "/usr/bin/git");
        asked("api.example", 1, "1.2.3.4");
        var remote = new Endpoint("1.2.3.4", 443);
        for (int pid : List.of(10, 11)) {
            run.add(new Event.NetFlow(
                    events.guest(pid, 1, "x"), "tcp", LOCAL, remote, null, 1, 1, null, null, "closed"));
        }
        other("tcp", "1.2.3.4", 443);
        EgressCheck check =
                EgressCheck.of(policy("rules: [{id: a, host: api.example, process: {exe: /usr/bin/git}}]\n"), egress());
        assertEquals(
                new TreeMap<>(Map.of(
                        "tcp api.example 443 /bin/evil", "deny default",
                        "tcp api.example 443 /usr/bin/git", "allow a")),
                verdicts(check));
        assertTrue(check.limits().stream().anyMatch(each -> each.contains("shared a source port")), check::toString);
    }

    @Test
    void aSuggestionDoesNotWidenAndNamesNoProgramUnlessAsked() throws Exception {
        program(10, "/usr/bin/ssh");
        program(11, "/usr/bin/curl");
        asked("h.example", 1, "140.82.121.3");
        asked("h.example", 16);
        connected(10, 1, "140.82.121.3", 22);
        connected(11, 2, "140.82.121.3", 443);
        connected(11, 3, "10.0.2.2", 8080);
        RecordedEgress egress = egress();
        String text = suggested(egress);
        assertFalse(text.contains("process:") || text.contains("dns:") || text.contains("address:"), text);
        assertTrue(text.contains("# by /usr/bin/ssh on [22]\n"), text);
        assertTrue(text.contains("ports: [22, 443]\n"), text);
        assertTrue(text.contains("#   h.example TXT\n"), text);
        assertTrue(text.contains("upstream: 127.0.0.1:8080 leads there"), text);
        Policy strict = PolicyReader.read(
                PolicySuggestion.of(List.of(egress), List.of("agent"), new PolicySuggestion.Options(true, false))
                        .getBytes(StandardCharsets.UTF_8));
        assertEquals(
                List.of("/usr/bin/curl port 443", "/usr/bin/ssh port 22"),
                strict.rules().stream()
                        .map(rule -> rule.exe() + " " + rule.traffic().ports())
                        .toList());
    }

    @Test
    void behindTheGatewayItsDecisionsSayWhoThePeerWas() throws Exception {
        run = new TestRun(folder.resolve("gateway"));
        run.add(new Event.RunOpen(
                EventHeader.host(run.tick()), Text.of("agent"), "{\"tier\":\"live\",\"network\":\"gateway\"}"));
        events = new TestEvents(run);
        asked("api.example", 1, "198.18.0.2");
        decided("allow", 1, "198.18.0.2", "api.example", "{\"stage\":\"connect\",\"rule\":\"m\"}");
        decided(
                "allow",
                1,
                "198.18.0.2",
                "api.example",
                "{\"stage\":\"dial\",\"rule\":\"m\",\"address\":\"160.79.104.10:443\"}");
        said(1, "198.18.0.2", 443, "api.example");
        asked("db.example", 1, "198.18.0.3");
        decided("allow", 2, "198.18.0.3", "db.example", "{\"stage\":\"connect\",\"rule\":\"d\"}");
        decided(
                "allow",
                2,
                "198.18.0.3",
                "db.example",
                "{\"stage\":\"dial\",\"rule\":\"d\",\"address\":\"10.1.2.3:443\"}");
        said(2, "198.18.0.3", 443, "api.example");
        decided("allow", 2, "198.18.0.3", "db.example", "{\"stage\":\"tls\",\"serverName\":\"db.example\"}");
        decided("deny", 2, "198.18.0.3", "db.example", "{\"stage\":\"http\",\"method\":\"PUT\",\"target\":\"/\"}");
        decided("deny", 3, "169.254.169.254", null, "{\"stage\":\"connect\",\"rule\":\"builtin:metadata\"}");
        said(3, "169.254.169.254", 443, "api.example");
        decided("deny", 4, "10.0.2.3", "evil.example", "{\"stage\":\"dns\",\"asked\":\"A\"}");
        run.close(0);
        run.spool(0, run.batches.size());
        RecordedEgress egress = EgressCollector.collect(Recordings.unchecked(folder.resolve("gateway")), run.run);
        EgressCheck check = EgressCheck.of(
                policy("rules: [{id: m, host: api.example}, {id: d, host: db.example, address: [10.1.2.3]},"
                        + " {id: u, host: up.example, upstream: \"127.0.0.1:1\"}]\n"),
                egress);
        assertEquals(
                Map.of("tcp api.example 443 null", "allow m", "tcp db.example 443 null", "allow d"), verdicts(check));
        assertTrue(check.holds());
        assertEquals("160.79.104.10", check.flows().getFirst().flow().peer().ip());
        assertEquals("api.example", check.flows().getLast().flow().peer().claimed());
        assertTrue(
                String.valueOf(check.flows().getLast().note()).contains("to which the gateway connected it"),
                check::toString);
        assertEquals(
                List.of("169.254.169.254"),
                check.attempts().stream().map(each -> each.flow().peer().ip()).toList());
        assertEquals(1, check.unanswered());
        assertFalse(EgressCheck.of(policy("rules: [{id: d, host: db.example}]\n"), egress)
                .holds());
        String text = suggested(egress);
        Policy written = PolicyReader.read(text.getBytes(StandardCharsets.UTF_8));
        assertTrue(EgressCheck.of(written, egress).holds(), text);
        assertTrue(text.contains("host: \"api.example\"\n    ports"), text);
        assertTrue(text.contains("host: \"db.example\"\n    address: [\"10.1.2.3\"]"), text);
        assertFalse(text.contains("198.18"), text);
        assertTrue(text.contains("# refused by the gateway; not allowed:\n#   tcp 169.254.169.254 port 443"), text);
    }
}
