package blackbox.node.verdict;

import blackbox.evidence.trust.ReplayNote.ReplayMethod;
import blackbox.node.machine.Hypervisor;
import blackbox.replay.exact.ExactReplayer;
import blackbox.replay.rerun.OnMiss;
import blackbox.replay.rerun.RerunReplayer;
import blackbox.replay.rerun.RerunReplayer.Afterwards;
import blackbox.replay.tier.Replayer;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The replayers that this program has, by tier.
///
/// @param replayers at most one of each tier
public record Tiers(List<Replayer> replayers) {
    public Tiers {
        replayers = List.copyOf(replayers);
        if (replayers.stream().map(Replayer::tier).distinct().count() < replayers.size()) {
            throw new IllegalArgumentException("two replayers for one tier");
        }
    }

    /// The replayers of this build.
    ///
    /// @param environment values of variables that the agent had, by name: recordings keep only the names
    /// @param onMiss what to do when a re-execution asks the network for something that was not recorded
    public static Tiers built(Map<String, String> environment, OnMiss onMiss) {
        return new Tiers(List.of(
                new ExactReplayer(), new RerunReplayer(environment, onMiss, Hypervisor.opener(), Afterwards.DISCARD)));
    }

    /// The replayer that keeps what it executes, for runs that were recorded live.
    ///
    /// @param environment as for [#built]
    public static Tiers keeping(Map<String, String> environment) {
        return new Tiers(List.of(new RerunReplayer(environment, OnMiss.END, Hypervisor.opener(), Afterwards.KEEP)));
    }

    /// The replayer of a tier, or null.
    @Nullable
    Replayer of(ReplayMethod tier) {
        return replayers.stream()
                .filter(each -> each.tier() == tier)
                .findFirst()
                .orElse(null);
    }

    /// Why a run of this tier is or is not replayed exactly, in a sentence.
    public static String why(ReplayMethod tier) {
        return switch (tier) {
            case EXACT ->
                "recorded exactly: everything that the machine did not determine by itself is in its log, so every instruction"
                        + " is executed again as it was";
            case RERUN ->
                "recorded live, at full speed: the order of its instructions was not recorded, so it is executed again"
                        + " from the same start, with the network served from the recording, and the replay is not exact;"
                        + " for an exact one, record with `blackbox record --tier exact`";
        };
    }
}
