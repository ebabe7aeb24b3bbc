package blackbox.fuzz;

import blackbox.fuzz.planted.PlantedFault;
import blackbox.gateway.http.Http2Target;
import blackbox.gateway.http.HttpTarget;
import blackbox.replay.disk.BlockLogTarget;
import blackbox.replay.git.GitTargets;
import blackbox.replay.kept.KeptExecutionTarget;
import blackbox.vm.carry.QcowHeaderTarget;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;

/// All targets.
final class FuzzTargets {
    /// A group is made when it is asked for: a fuzzer needs one target, and instruments every class that is
    /// loaded.
    private static final List<Supplier<List<FuzzTarget>>> GROUPS = List.of(
            () -> List.of(PlantedFault.TARGET),
            TracerTargets::all,
            NetworkTargets::all,
            GatewayTargets::all,
            () -> List.of(HttpTarget.TARGET, Http2Target.TARGET, ScrubTarget.TARGET),
            MachineTargets::all,
            ImageTargets::all,
            DiskTargets::all,
            () -> List.of(BlockLogTarget.TARGET, KeptExecutionTarget.TARGET),
            CassetteTargets::all,
            ContentTargets::all,
            GitTargets::all,
            TextTargets::all,
            PolicyTargets::all,
            RuleTargets::all,
            CallTargets::all,
            EvidenceTargets::all,
            TravelTargets::all,
            CaptureTargets::all,
            () -> List.of(QcowHeaderTarget.TARGET),
            ApiTargets::all);

    private FuzzTargets() {}

    private static Stream<FuzzTarget> each() {
        return GROUPS.stream().map(Supplier::get).flatMap(List::stream);
    }

    /// In the order in which `make fuzz` runs them.
    static List<FuzzTarget> all() {
        return each().filter(target -> !target.equals(PlantedFault.TARGET)).toList();
    }

    /// The one of that name.
    ///
    /// @throws IllegalArgumentException when there is none
    static FuzzTarget named(String name) {
        return each().filter(target -> target.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no target '" + name + "'; there are: "
                        + String.join(" ", all().stream().map(FuzzTarget::name).toList())));
    }
}
