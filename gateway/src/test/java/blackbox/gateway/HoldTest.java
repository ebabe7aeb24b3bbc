package blackbox.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.gateway.egress.Decision;
import blackbox.gateway.egress.Destination;
import blackbox.gateway.egress.EgressAuthority;
import blackbox.gateway.egress.FlowWitness;
import blackbox.gateway.egress.FlowWitness.Begun;
import blackbox.gateway.egress.FlowWitness.FirstSegment;
import blackbox.gateway.egress.Judge;
import blackbox.gateway.egress.Verdict;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Connections that wait for a witness.
class HoldTest {

    @TempDir
    Path folder;

    private final LinkedBlockingQueue<Asked> asked = new LinkedBlockingQueue<>();

    private record Asked(FirstSegment first, CompletableFuture<Optional<Begun>> answer) {}

    private CompletionStage<Optional<Begun>> ask(FirstSegment first) {
        var answer = new CompletableFuture<Optional<Begun>>();
        asked.add(new Asked(first, answer));
        return answer;
    }

    private static Optional<Begun> begunBy(String exe) {
        return Optional.of(new Begun(exe));
    }

    private interface Knows {
        CompletionStage<Optional<Begun>> begun(FirstSegment first);
    }

    private static FlowWitness witness(boolean holds, Knows knows) {
        return new FlowWitness() {
            @Override
            public CompletionStage<Optional<Begun>> begun(FirstSegment first) {
                return knows.begun(first);
            }

            @Override
            public boolean holds() {
                return holds;
            }
        };
    }

    private Asked next() throws InterruptedException {
        Asked next = asked.poll(TestGuest.LIMIT.toSeconds(), TimeUnit.SECONDS);
        if (next == null) {
            throw new AssertionError("the witness was not asked");
        }
        return next;
    }

    private Served served(Knows knows) throws Exception {
        return new Served(folder, GatewaySettings.DEFAULT, Served.Rules::new, OctetRelay.FACTORY, witness(true, knows));
    }

    @Test
    void nothingIsDialledOrAnsweredBeforeTheWitnessKnows() throws Exception {
        try (Served served = served(this::ask)) {
            TestConnection held = served.connect(40_000);
            Asked question = next();
            assertEquals(40_000, question.first().flow().guest().port());
            assertEquals(Served.SERVER, question.first().flow().remote().ip());
            // By when another one is through, this one would have been.
            TestConnection other = served.connect(40_001);
            next().answer().complete(begunBy("/bin/other"));
            other.awaitOpen();
            served.accepted();
            assertFalse(held.isOpen());
            assertTrue(served.accepted.isEmpty());
            assertEquals(1, connects(served).size());

            question.answer().complete(begunBy("/bin/held"));
            held.awaitOpen();
            served.accepted();
        }
    }

    @Test
    void whatTheWitnessDoesNotKnowIsRefused() throws Exception {
        try (Served served = served(_ -> CompletableFuture.completedFuture(Optional.empty()))) {
            served.connect(40_000).awaitReset();
            Decision decision = connects(served).getFirst();
            assertFalse(decision.allowed());
            assertEquals(Judge.UNCONFIRMED, decision.rule());
            assertTrue(served.accepted.isEmpty());
        }
    }

    @Test
    void witnessThatFailsKnowsNothing() throws Exception {
        try (Served served = served(_ -> CompletableFuture.failedFuture(new IllegalStateException("broken")))) {
            served.connect(40_000).awaitReset();
            assertFalse(connects(served).getFirst().allowed());
        }
    }

    private static EgressAuthority forGit(int port) {
        return new Served.Rules(port) {
            @Override
            public boolean asksProgram(Destination destination) {
                return true;
            }

            @Override
            public CompletionStage<Verdict> connect(Destination destination) {
                return "/usr/bin/git".equals(destination.exe())
                        ? super.connect(destination)
                        : CompletableFuture.completedFuture(Verdict.deny("git", "for git alone"));
            }
        };
    }

    private static CompletionStage<Optional<Begun>> byPort(FirstSegment first) {
        return switch (first.flow().guest().port()) {
            case 40_000 -> CompletableFuture.completedFuture(begunBy("/usr/bin/git"));
            case 40_001 -> CompletableFuture.completedFuture(begunBy("/usr/bin/curl"));
            case 40_002 -> CompletableFuture.completedFuture(Optional.empty());
            default -> CompletableFuture.failedFuture(new IllegalStateException("broken"));
        };
    }

    /// Asked before the authority, which gets what the witness knows.
    @Test
    void theProgramIsPartOfWhatIsJudged() throws Exception {
        try (Served served = new Served(
                folder,
                GatewaySettings.DEFAULT,
                HoldTest::forGit,
                OctetRelay.FACTORY,
                witness(false, HoldTest::byPort))) {
            served.connect(40_000).awaitOpen();
            for (int port = 40_001; port < 40_004; port++) {
                served.connect(port).awaitReset();
            }
            assertEquals(
                    Arrays.asList("/usr/bin/git", "/usr/bin/curl", null, null),
                    connects(served).stream().map(Decision::exe).toList());
        }
    }

    @Test
    void whoIsAskedForAProgramIsNotAskedAgainWhetherItBegan() throws Exception {
        try (Served served = new Served(
                folder, GatewaySettings.DEFAULT, HoldTest::forGit, OctetRelay.FACTORY, witness(true, this::ask))) {
            TestConnection first = served.connect(40_000);
            next().answer().complete(begunBy("/usr/bin/git"));
            first.awaitOpen();
            assertTrue(asked.isEmpty());
        }
    }

    @Test
    void anAuthorityThatFailsIsAskedAboutTheConnectionAllTheSame() throws Exception {
        EgressAuthority failing = new Served.Rules(1) {
            @Override
            public boolean asksProgram(Destination destination) {
                throw new IllegalStateException("broken");
            }

            @Override
            public CompletionStage<Verdict> connect(Destination destination) {
                return CompletableFuture.completedFuture(Verdict.deny("none", "no"));
            }
        };
        try (Served served = new Served(
                folder, GatewaySettings.DEFAULT, _ -> failing, OctetRelay.FACTORY, witness(true, this::ask))) {
            served.connect(40_000).awaitReset();
            assertEquals("none", connects(served).getFirst().rule());
        }
    }

    @Test
    void whatThePolicyDeniesIsNotAsked() throws Exception {
        try (Served served = served(this::ask)) {
            served.guest.connect("192.0.2.77", 80, 40_000).awaitReset();
            assertTrue(asked.isEmpty());
            assertEquals(1, connects(served).size());
        }
    }

    private static List<Decision> connects(Served served) {
        return served.listener.decisions().stream()
                .filter(decision -> decision.stage() == Decision.Stage.CONNECT)
                .toList();
    }
}
