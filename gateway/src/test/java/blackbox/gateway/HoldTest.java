package blackbox.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.gateway.egress.Decision;
import blackbox.gateway.egress.Flow;
import blackbox.gateway.egress.FlowWitness;
import blackbox.gateway.egress.Judge;
import java.nio.file.Path;
import java.util.List;
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

    private record Asked(Flow flow, CompletableFuture<Boolean> answer) {}

    private CompletionStage<Boolean> ask(Flow flow) {
        var answer = new CompletableFuture<Boolean>();
        asked.add(new Asked(flow, answer));
        return answer;
    }

    private Asked next() throws InterruptedException {
        Asked next = asked.poll(TestGuest.LIMIT.toSeconds(), TimeUnit.SECONDS);
        if (next == null) {
            throw new AssertionError("the witness was not asked");
        }
        return next;
    }

    private Served served(FlowWitness witness) throws Exception {
        return new Served(folder, GatewaySettings.DEFAULT, Served.Rules::new, OctetRelay.FACTORY, witness);
    }

    @Test
    void nothingIsDialledOrAnsweredBeforeTheWitnessKnows() throws Exception {
        try (Served served = served(this::ask)) {
            TestConnection held = served.connect(40_000);
            Asked question = next();
            assertEquals(40_000, question.flow().guest().port());
            assertEquals(Served.SERVER, question.flow().remote().ip());
            // By when another one is through, this one would have been.
            TestConnection other = served.connect(40_001);
            next().answer().complete(true);
            other.awaitOpen();
            served.accepted();
            assertFalse(held.isOpen());
            assertTrue(served.accepted.isEmpty());
            assertEquals(1, connects(served).size());

            question.answer().complete(true);
            held.awaitOpen();
            served.accepted();
        }
    }

    @Test
    void whatTheWitnessDoesNotKnowIsRefused() throws Exception {
        try (Served served = served(_ -> CompletableFuture.completedFuture(false))) {
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
