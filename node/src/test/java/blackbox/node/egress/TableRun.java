package blackbox.node.egress;

import blackbox.evidence.TestRun;
import blackbox.evidence.store.Recordings;
import blackbox.gateway.FrameGuest;
import blackbox.gateway.Gateway;
import blackbox.gateway.GatewaySettings;
import blackbox.gateway.egress.Decision;
import blackbox.gateway.egress.ExchangeTap;
import blackbox.gateway.egress.Finding;
import blackbox.gateway.egress.Flow;
import blackbox.gateway.egress.FlowEnd;
import blackbox.gateway.egress.GatewayListener;
import blackbox.gateway.egress.HttpField;
import blackbox.gateway.egress.PlaintextTap;
import blackbox.gateway.egress.RequestHead;
import blackbox.gateway.egress.SecretUse;
import blackbox.gateway.secret.Secrets;
import blackbox.gateway.tls.RunAuthority;
import blackbox.policy.Policy;
import blackbox.policy.host.Address;
import blackbox.policy.text.PolicyReader;
import blackbox.query.answer.TouchedCollector;
import blackbox.query.egress.EgressCheck;
import blackbox.query.egress.EgressCollector;
import blackbox.query.run.RunFacts;
import blackbox.recorder.guest.HostClock;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.NetView;
import blackbox.schemas.view.RecorderView;
import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGeneratorFactory;
import org.jspecify.annotations.Nullable;

/// One case, in a gateway and an outside of its own, and its record, sealed and read again.
final class TableRun {
    /// An address of this host, and one that a rule allows otherwise.
    private static final Set<Address> OWN = Set.of(
            Objects.requireNonNull(Address.parse("93.184.216.200")), Objects.requireNonNull(Address.parse("10.1.2.3")));

    private static final long WAIT_S = 20;

    private final TableCase it;
    private final Path folder;
    private final List<Event> events = Collections.synchronizedList(new ArrayList<>());
    private final Reevaluation again = new Reevaluation();

    /// What became of a case.
    ///
    /// @param hears what the guest heard
    /// @param outside all that got out
    /// @param record its decisions, exchanges and findings
    record Told(String hears, List<String> outside, String record) {
        String text() {
            return "hears:   " + hears + "\noutside: " + String.join("\n         ", outside) + "\nrecord:  " + record;
        }
    }

    TableRun(TableCase it, Path folder) {
        this.it = it;
        this.folder = folder;
    }

    Reevaluation again() {
        return again;
    }

    Told run(long seed) throws Exception {
        Policy policy = PolicyReader.read(it.policy());
        var budgets = new Budgets(policy, System::nanoTime);
        RunAuthority authority = RunAuthority.create(Instant.now());
        HostClock clock = new HostClock(InstantSource.system());
        String heard;
        List<String> came;
        try (var outside = new Outside(it.names(), it.server());
                var guest = FrameGuest.start(
                        folder, RandomGeneratorFactory.of("L64X128MixRandom").create(seed));
                var plaintext = new PlaintextCapture(folder.resolve("plaintext"), 0, clock::nowNs)) {
            var listener = new Ends(new EgressLog(clock, events::add, plaintext, budgets));
            Gateway.Outside inspecting =
                    Gateway.Outside.inspecting(authority, Outside.authority().trust(), Secrets.none());
            try (var gateway = Gateway.start(
                    guest.gateway(),
                    GatewaySettings.DEFAULT,
                    new PolicyAuthority(policy, () -> OWN, budgets),
                    listener,
                    new Gateway.Outside(outside, outside, inspecting.connections()))) {
                heard = new TableGuest(guest, authority.certificate()).act(it);
                listener.await();
                outside.awaitEnds();
            }
            came = outside.came();
        }
        return new Told(heard, came, recorded(policy));
    }

    private String recorded(Policy policy) throws Exception {
        var run = new TestRun(folder);
        run.add(new Event.RunOpen(
                EventHeader.host(run.tick()), Text.of("case"), "{\"tier\":\"live\",\"network\":\"gateway\"}"));
        GatewayPolicy.events(policy, run.tick()).forEach(run::add);
        events.forEach(run::add);
        run.close(0);
        run.spool(0, run.batches.size());
        var words = new ArrayList<String>();
        Recordings recordings = Recordings.unchecked(folder);
        TouchedCollector.read(recordings, run.run, EnumSet.allOf(Column.class), (event, index) -> {
            again.see(event);
            String word = word(event);
            if (word != null && !(word.startsWith("!") && words.contains(word))) {
                words.add(word);
            }
        });
        check(EgressCheck.of(again.policy(), EgressCollector.collect(recordings, run.run)));
        return String.join(" ", words);
    }

    private static @Nullable String word(EventView event) {
        return switch (event) {
            case NetView.Decision decision -> {
                JsonNode detail = RunFacts.detailOf(decision.row());
                String rule = detail.path("rule").textValue();
                String sign = switch (String.valueOf(decision.verdict())) {
                    case "allow" -> "+";
                    case "deny" -> "-";
                    default -> "~";
                };
                yield sign + detail.path("stage").asText() + ":" + (rule == null ? "-" : rule);
            }
            case NetView.Exchange exchange ->
                "=" + exchange.ending() + ":"
                        + RunFacts.detailOf(exchange.row()).path("status").asText();
            case RecorderView.Noticed finding ->
                "!" + RunFacts.detailOf(finding.row()).path("what").asText();
            default -> null;
        };
    }

    /// What `egress check` makes of the record: whatever went on, the policy lets through, or would not if it were
    /// enforced.
    private void check(EgressCheck check) {
        for (EgressCheck.JudgedFlow flow : check.flows()) {
            if (flow.verdict().equals("deny")) {
                throw new AssertionError("`egress check` refuses what went on: " + flow);
            }
        }
        for (EgressCheck.JudgedFlow flow : check.attempts()) {
            boolean known = flow.verdict().equals("deny") || again.gatewaysOwn() > 0 || again.restsOnTheHost();
            if (!known) {
                throw new AssertionError("`egress check` lets through what was refused: " + flow);
            }
        }
    }

    /// Knows when all that was allowed has ended.
    private static final class Ends implements GatewayListener {
        private final GatewayListener log;
        private int open;

        Ends(GatewayListener log) {
            this.log = log;
        }

        synchronized void await() throws InterruptedException {
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_S);
            while (open != 0) {
                long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
                if (left <= 0) {
                    throw new AssertionError(open + " connections that were allowed do not end");
                }
                wait(left);
            }
        }

        private synchronized void count(int by) {
            open += by;
            notifyAll();
        }

        @Override
        public void decided(Decision decision) {
            log.decided(decision);
            if (decision.stage() == Decision.Stage.CONNECT && decision.allowed()) {
                count(1);
            }
        }

        @Override
        public void ended(FlowEnd end) {
            log.ended(end);
            count(-1);
        }

        @Override
        public ExchangeTap asked(Flow flow, RequestHead head, List<HttpField> fields) {
            return log.asked(flow, head, fields);
        }

        @Override
        public void secret(SecretUse use) {
            log.secret(use);
        }

        @Override
        public PlaintextTap opened(Flow flow) {
            return log.opened(flow);
        }

        @Override
        public void found(Finding finding, String detail, long count) {
            log.found(finding, detail, count);
        }
    }
}
