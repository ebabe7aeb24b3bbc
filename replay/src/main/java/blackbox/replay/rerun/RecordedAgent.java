package blackbox.replay.rerun;

import blackbox.query.run.RunFacts;
import blackbox.query.run.RunOpening;
import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.replay.verdict.ClockOffset;
import blackbox.schemas.Hash;
import blackbox.vm.machine.AgentCommand;
import blackbox.vm.machine.AgentLimits;
import blackbox.vm.machine.MachineSize;
import blackbox.vm.machine.Terminal;
import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The agent according to a run's first event, as far as executing it again needs it.
///
/// @param size of its machine
/// @param entropy digest of the seed of its guest's random generator, null if the run does not say
record RecordedAgent(
        Command command, MachineSize size, @Nullable Hash entropy, RunTimes times) {

    /// What was started.
    ///
    /// @param words program and arguments, each [OctetText]
    /// @param variables names of what was added to its environment; the values were not recorded
    /// @param user `agent` or `root`
    /// @param limits what it may use of its guest
    /// @param terminal the terminal that it was given, null if it had pipes
    /// @param trusted the certificate of the authority that its programs were to trust, null if none
    /// @param surrogates what stood for secrets in its environment, by the names of the variables
    record Command(
            List<String> words,
            List<String> variables,
            String user,
            AgentLimits limits,
            @Nullable Terminal terminal,
            @Nullable String trusted,
            Map<String, String> surrogates) {
        Command {
            words = List.copyOf(words);
            variables = List.copyOf(variables);
            surrogates = Map.copyOf(surrogates);
        }
    }

    /// When it ran.
    ///
    /// @param startedAt when the run began
    /// @param guest what the guest's clock showed, null if the run does not say
    /// @param took how long the run took, null if it has no end
    record RunTimes(
            Instant startedAt,
            @Nullable GuestTimes guest,
            @Nullable Duration took) {
        private static final int PATIENCE_FACTOR = 20;
        private static final Duration PATIENCE_MIN = Duration.ofMinutes(2);

        /// How long to wait for it: emulation on a busy machine is sometimes many times slower.
        Duration patience() {
            Duration recorded = took == null ? Duration.ZERO : took;
            return recorded.multipliedBy(PATIENCE_FACTOR).plus(PATIENCE_MIN);
        }
    }

    /// What the guest's wall clock showed in a run, nanoseconds since 1970.
    ///
    /// @param startNs when the agent's first process was created
    /// @param endNs when the agent had ended, null if it did not end by itself
    record GuestTimes(long startNs, @Nullable Long endNs) {
        static @Nullable GuestTimes of(RunFacts.@Nullable End end) {
            JsonNode clock = end == null ? null : end.detail().path("clock");
            if (clock == null || !clock.path("startNs").isIntegralNumber()) {
                return null;
            }
            JsonNode ended = clock.path("endNs");
            return new GuestTimes(
                    clock.path("startNs").longValue(), ended.isIntegralNumber() ? (Long) ended.longValue() : null);
        }

        Instant start() {
            return Instant.EPOCH.plusNanos(startNs);
        }

        /// By how much another guest's clock differed from this one.
        ClockOffset offsetOf(GuestTimes other) {
            Long end = endNs;
            Long otherEnd = other.endNs();
            Long later = end == null || otherEnd == null ? null : Long.valueOf(otherEnd - end);
            return new ClockOffset(other.startNs() - startNs, later);
        }
    }

    /// Reads it from a run's events.
    ///
    /// @throws ReplayException `BAD_INPUT` when the run does not say what was started
    static RecordedAgent of(RunFacts facts) throws ReplayException {
        RunFacts.Start start = facts.start();
        RunOpening opening = opening(facts);
        if (start == null || opening.agent().command().isEmpty()) {
            throw new ReplayException(
                    Code.BAD_INPUT,
                    "run " + facts.run() + " does not say which command was run, so it cannot be run again");
        }
        RunOpening.Agent agent = opening.agent();
        RunOpening.Machine machine = opening.machine();
        RunFacts.End end = facts.end();
        var command = new Command(
                agent.command(),
                agent.environment(),
                agent.user() == null ? "agent" : agent.user(),
                limits(agent),
                terminal(agent.terminal()),
                agent.trusted(),
                agent.surrogates());
        var times = new RunTimes(
                Instant.EPOCH.plusNanos(start.atNs()),
                GuestTimes.of(end),
                end == null ? null : Duration.ofNanos(Math.max(0, end.atNs() - start.atNs())));
        MachineSize size =
                machine == null ? MachineSize.DEFAULT : MachineSize.ofRecorded(machine.memoryMib(), machine.vcpus());
        return new RecordedAgent(command, size, opening.inputs().entropy(), times);
    }

    private static AgentLimits limits(RunOpening.Agent agent) throws ReplayException {
        Long disk = agent.diskBytesMax();
        try {
            return new AgentLimits(agent.pidsMax(), disk == null ? 0 : disk);
        } catch (IllegalArgumentException e) {
            throw new ReplayException(Code.BAD_INPUT, "the run's first event is not valid: " + e.getMessage(), e);
        }
    }

    private static @Nullable Terminal terminal(RunOpening.@Nullable Terminal recorded) throws ReplayException {
        try {
            return recorded == null ? null : new Terminal(recorded.rows(), recorded.columns(), recorded.type());
        } catch (IllegalArgumentException e) {
            throw new ReplayException(Code.BAD_INPUT, "the run's first event is not valid: " + e.getMessage(), e);
        }
    }

    private static RunOpening opening(RunFacts facts) throws ReplayException {
        try {
            return facts.opening();
        } catch (IllegalArgumentException e) {
            throw new ReplayException(
                    Code.BAD_INPUT, "the first event of run " + facts.run() + " cannot be read: " + e.getMessage(), e);
        }
    }

    /// The variables for which neither `given` nor the run has a value.
    List<String> missing(Map<String, String> given) {
        return command.variables().stream()
                .filter(name ->
                        !given.containsKey(name) && !command.surrogates().containsKey(name))
                .toList();
    }

    /// The command with these values; what was not recorded is left out.
    ///
    /// @param trusted an authority in the place of the recorded one; null for that
    AgentCommand with(Map<String, String> values, @Nullable String trusted) {
        var known = new TreeMap<>(command.surrogates());
        known.putAll(values);
        known.keySet().retainAll(command.variables());
        return AgentCommand.of(command.words(), known, command.user(), command.limits(), command.terminal())
                .trusting(trusted == null ? command.trusted() : trusted);
    }
}
