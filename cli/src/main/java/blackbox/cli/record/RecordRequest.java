package blackbox.cli.record;

import blackbox.vm.machine.Network;
import blackbox.vm.machine.Tier;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// What to record.
///
/// @param image name of the guest image
/// @param name what the user calls the run, or null
/// @param workspace folder that goes in, or null for an empty one
/// @param environment added to the agent's environment; names are recorded, values are not
/// @param timeout how long the agent may run, or null
/// @param network what the VM's network reaches
/// @param user `agent` or `root`
/// @param limits how much is kept beside the events
/// @param tier how faithfully it can be run again
/// @param command the agent's program and arguments
public record RecordRequest(
        String image,
        @Nullable String name,
        @Nullable Path workspace,
        Map<String, String> environment,
        @Nullable Duration timeout,
        Network network,
        String user,
        CaptureLimits limits,
        Tier tier,
        List<String> command) {

    public RecordRequest {
        if (command.isEmpty()) {
            throw new IllegalArgumentException("there is no command to run");
        }
        environment = Map.copyOf(environment);
        command = List.copyOf(command);
    }
}
