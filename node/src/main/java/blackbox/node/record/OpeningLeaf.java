package blackbox.node.record;

import blackbox.node.egress.EgressRequest;
import blackbox.query.run.RunOpening;
import blackbox.query.run.RunOpening.Agent;
import blackbox.query.run.RunOpening.GuestInputs;
import blackbox.query.run.RunOpening.Image;
import blackbox.query.run.RunOpening.Machine;
import blackbox.query.run.RunOpening.RecordedTier;
import blackbox.query.run.RunOpening.Recorder;
import blackbox.schemas.Hash;
import blackbox.vm.machine.StartFacts;
import blackbox.vm.machine.Terminal;
import blackbox.vm.machine.TierChoice;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A run's first leaf, made from what was requested and what was started.
final class OpeningLeaf {

    private OpeningLeaf() {}

    /// @param tier what was requested and what was chosen
    /// @param entropy digest of what seeds the guest's random generator
    /// @param recorder the recorder
    static RunOpening of(
            RecordRequest request,
            @Nullable String trusted,
            TierChoice tier,
            StartFacts facts,
            Hash entropy,
            Recorder recorder) {
        return new RunOpening(
                new RecordedTier(facts.tier().label(), tier.asked().label(), tier.reason()),
                new Image(facts.imageName(), facts.imageDigest()),
                facts.snapshotDigest(),
                agent(request, trusted),
                new GuestInputs(facts.workspace().sha256(), facts.workspace().bytes(), entropy),
                recorder,
                machine(facts));
    }

    private static Agent agent(RecordRequest request, @Nullable String trusted) {
        RecordRequest.Agent agent = request.agent();
        return new Agent(
                agent.command(),
                agent.environment().keySet().stream().sorted().toList(),
                agent.user(),
                request.guest().network().name().toLowerCase(Locale.ROOT),
                agent.limits().pidsMax(),
                agent.limits().diskBytesMax() == 0
                        ? null
                        : Long.valueOf(agent.limits().diskBytesMax()),
                terminal(agent.terminal()),
                trusted,
                surrogates(request.guest().egress()));
    }

    private static Map<String, String> surrogates(@Nullable EgressRequest egress) {
        return egress == null ? Map.of() : egress.secrets().surrogates();
    }

    private static RunOpening.@Nullable Terminal terminal(@Nullable Terminal terminal) {
        return terminal == null ? null : new RunOpening.Terminal(terminal.rows(), terminal.columns(), terminal.type());
    }

    private static Machine machine(StartFacts facts) {
        return new Machine(
                facts.hypervisor().version(),
                facts.hypervisor().sha256(),
                facts.accelerator().kind().name(),
                facts.accelerator().reason(),
                facts.confinement(),
                facts.size().memoryMib(),
                facts.size().cpus(),
                facts.start().name().toLowerCase(Locale.ROOT),
                facts.took().toMillis(),
                facts.ready().bootId(),
                facts.ready().kernel(),
                facts.clock().guestBootNanos(),
                facts.clock().roundTripNanos() / 2,
                facts.argv());
    }
}
