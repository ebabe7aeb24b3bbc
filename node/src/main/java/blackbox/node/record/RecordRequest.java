package blackbox.node.record;

import blackbox.node.alert.AlertOptions;
import blackbox.node.egress.EgressRequest;
import blackbox.query.run.SealedCommand;
import blackbox.recorder.capture.CaptureLimits;
import blackbox.vm.machine.AgentCommand;
import blackbox.vm.machine.AgentLimits;
import blackbox.vm.machine.MachineSize;
import blackbox.vm.machine.Network;
import blackbox.vm.machine.Terminal;
import blackbox.vm.machine.TierOption;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// What to record.
///
/// @param name what the user calls the run, or null
/// @param agent what runs
/// @param workspace folder that goes in, or null for an empty one
/// @param guest where it runs
/// @param limits how much is stored beside the events
/// @param alerts by which rules the run is watched, and what comes of it
public record RecordRequest(
        @Nullable String name,
        Agent agent,
        @Nullable Path workspace,
        Guest guest,
        CaptureLimits limits,
        AlertOptions alerts) {

    /// The agent.
    ///
    /// @param command program and arguments, each [OctetText]
    /// @param environment added to the agent's environment; names are recorded, values ([OctetText]) are not.
    ///     Sorted by name: the order of `Map.copyOf` differs from JVM to JVM
    /// @param user `agent` or `root`
    /// @param limits what it may use of its guest
    /// @param terminal the terminal that it gets instead of pipes, or null
    /// @param timeout how long it may run, or null
    /// @param silenceMax how long nothing may be heard of the tracer that watches it, or null for no limit
    public record Agent(
            List<String> command,
            Map<String, String> environment,
            String user,
            AgentLimits limits,
            @Nullable Terminal terminal,
            @Nullable Duration timeout,
            @Nullable Duration silenceMax) {
        public Agent {
            if (command.isEmpty()) {
                throw new IllegalArgumentException("there is no command to run");
            }
            environment = Collections.unmodifiableSortedMap(new TreeMap<>(environment));
            command = List.copyOf(command);
        }

        /// As it is sent to the guest.
        ///
        /// @param trusted the certificate of an authority that its programs are to trust, in PEM, or null
        AgentCommand toCommand(@Nullable String trusted) {
            return AgentCommand.of(command, environment, user, limits, terminal).trusting(trusted);
        }
    }

    /// The same, with a terminal of another shape.
    RecordRequest inTerminal(Terminal terminal) {
        var there = new Agent(
                agent.command, agent.environment, agent.user, agent.limits, terminal, agent.timeout, agent.silenceMax);
        return new RecordRequest(name, there, workspace, guest, limits, alerts);
    }

    /// The VM.
    ///
    /// @param image name of the guest image
    /// @param tier how faithfully it must be possible to replay it
    /// @param network what the VM's network reaches
    /// @param egress what it may reach through the egress gateway; null unless that is its network
    public record Guest(
            String image,
            TierOption tier,
            MachineSize size,
            Network network,
            @Nullable EgressRequest egress) {
        public Guest {
            if ((network == Network.GATEWAY) != (egress != null)) {
                throw new IllegalArgumentException("the egress gateway needs a policy, and nothing else does");
            }
        }
    }

    /// How long nothing may be heard of a tracer that says something every second, unless the user says otherwise.
    public static final Duration SILENCE_MAX = Duration.ofMinutes(5);

    /// The most octets that the command and the names in its environment may take in a run's first event, as JSON:
    /// a leaf has at most 65,535 octets, and the rest of the event takes a few thousand.
    public static final int GIVEN_BYTES_MAX = 48 << 10;

    /// How many octets the command and these names take there.
    public static int givenBytes(List<String> command, Collection<String> names) {
        var mapper = new ObjectMapper();
        var sealed = mapper.createObjectNode();
        SealedCommand.put(sealed, command);
        return Stream.<JsonNode>of(sealed, mapper.valueToTree(names))
                .mapToInt(each -> each.toString().getBytes(StandardCharsets.UTF_8).length)
                .sum();
    }
}
