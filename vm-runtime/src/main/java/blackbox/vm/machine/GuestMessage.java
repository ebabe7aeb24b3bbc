package blackbox.vm.machine;

import blackbox.vm.Json;
import blackbox.vm.VmException;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// A message from the guest's first process on the control port. Everything in it is only the guest's claim.
public sealed interface GuestMessage {

    /// The tracer is attached and the agent may be started.
    ///
    /// @param bootId of this boot; the same in all VMs restored from one snapshot
    /// @param kernel its release
    /// @param bootNanos the guest's boot clock at that moment
    /// @param tracer the tracer's report about itself, JSON
    record Ready(String bootId, String kernel, long bootNanos, String tracer) implements GuestMessage {}

    /// Everything is in place for the agent, which now waits for its launch.
    ///
    /// @param trusts whether its programs trust the authority that came with the command
    record Prepared(boolean trusts) implements GuestMessage {}

    /// The agent's process exists.
    ///
    /// @param cgroupId of the control group that holds the agent's processes and nothing else
    /// @param bootNanos the guest's boot clock right before the process was made
    /// @param wallNanos its wall clock then, which had just been set
    record Started(int pid, long cgroupId, long bootNanos, long wallNanos) implements GuestMessage {}

    /// All of the agent's processes have ended.
    ///
    /// @param code its exit code, or null when a signal ended it
    /// @param signal that ended it, or null
    /// @param limits the limits that it hit, each with the number of processes that were killed (`memory`) or could
    ///     not be started (`pids`)
    record Exit(
            @Nullable Integer code,
            @Nullable Integer signal,
            long bootNanos,
            long wallNanos,
            SortedMap<String, Long> limits)
            implements GuestMessage {
        /// The code a shell would report: 128 and the signal's number when a signal ended it.
        public int shellCode() {
            if (code != null) {
                return code & 0xff;
            }
            return signal == null ? 125 : 128 + (signal & 0x7f);
        }
    }

    /// The answer to a ping.
    record Pong(long id, long bootNanos, long wallNanos) implements GuestMessage {}

    /// The answer to being told the host's time.
    ///
    /// @param bootNanos the guest's boot clock
    /// @param wallNanos its wall clock before it was set
    /// @param forwardNanos by how much it was set forward, 0 when it was not
    record Told(long id, long bootNanos, long wallNanos, long forwardNanos) implements GuestMessage {}

    /// All that was written to the guest's disk before a time is on it.
    ///
    /// @param bootNanos that time, on the guest's boot clock
    record Synced(long bootNanos) implements GuestMessage {}

    /// The tracer has nothing left to send.
    record Drained() implements GuestMessage {}

    /// The tracer has ended, and the agent was frozen. Another tracer reads on; once it does, the agent is ended.
    ///
    /// @param status its exit code, or minus the signal that ended it
    /// @param bootNanos when that was noticed, on the guest's boot clock
    /// @param frozenNanos when the kernel said that no process of the agent runs any more, -1 if it did not in time
    record TracerEnded(int status, long bootNanos, long frozenNanos) implements GuestMessage {}

    /// What came of collecting the workspace.
    sealed interface Collection extends GuestMessage {}

    /// The workspace is on its disk.
    record Collected(long bytes) implements Collection {}

    /// There is no workspace, or it could not be written to its disk.
    record Uncollected(String what) implements Collection {}

    /// Something failed in the guest.
    record Failure(String what) implements GuestMessage {}

    /// The port is closed: the VM has ended, or broke the protocol.
    record Closed(String why) implements GuestMessage {}

    /// Not from the guest: the host cannot continue, for example because its disk is full.
    record HostFailure(VmException.Code code, String what) implements GuestMessage {}

    /// Reads one line.
    ///
    /// @throws JsonProcessingException when it is not JSON
    /// @throws IllegalArgumentException when it is not a message
    static GuestMessage parse(String line) throws JsonProcessingException {
        JsonNode node = Json.parse(line);
        long boot = node.path("ktimeNs").asLong();
        long wall = node.path("wallNs").asLong();
        return switch (node.path("type").asText()) {
            case "ready" ->
                new Ready(text(node, "bootId", 64), text(node, "kernel", 128), boot, Json.line(node.path("tracer")));
            case "prepared" -> new Prepared(node.path("trusts").asBoolean());
            case "started" ->
                new Started(node.path("pid").asInt(), node.path("cgroupId").asLong(), boot, wall);
            case "exit" -> new Exit(number(node, "code"), number(node, "signal"), boot, wall, limits(node));
            case "pong" -> new Pong(node.path("id").asLong(), boot, wall);
            case "clock" ->
                new Told(
                        node.path("id").asLong(),
                        boot,
                        wall,
                        node.path("forwardNs").asLong());
            case "synced" -> new Synced(boot);
            case "drained" -> new Drained();
            case "tracerEnded" ->
                new TracerEnded(
                        node.path("status").asInt(),
                        boot,
                        node.path("frozenKtimeNs").asLong());
            case "collected" -> new Collected(node.path("bytes").asLong(-1));
            case "uncollected" -> new Uncollected(printable(text(node, "what", 2000)));
            case "error" -> new Failure(printable(text(node, "what", 2000)));
            default -> throw new IllegalArgumentException("a message of unknown type");
        };
    }

    private static SortedMap<String, Long> limits(JsonNode node) {
        var limits = new TreeMap<String, Long>();
        for (String name : List.of("memory", "pids")) {
            long count = node.path("limits").path(name).asLong();
            if (count > 0) {
                limits.put(name, count);
            }
        }
        return Collections.unmodifiableSortedMap(limits);
    }

    private static @Nullable Integer number(JsonNode node, String field) {
        return node.path(field).isInt() ? (Integer) node.path(field).intValue() : null;
    }

    private static String text(JsonNode node, String field, int lengthMax) {
        String text = node.path(field).asText();
        return text.length() <= lengthMax ? text : text.substring(0, lengthMax);
    }

    /// The guest's text is shown on a terminal: control characters are replaced.
    private static String printable(String text) {
        return text.replaceAll("\\p{Cntrl}", "?");
    }
}
