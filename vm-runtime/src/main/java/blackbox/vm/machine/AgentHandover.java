package blackbox.vm.machine;

import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.workspace.TarFilter;
import blackbox.vm.workspace.WorkspaceDisk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// The steps after an agent's end: the tracer sends what it has, the guest sends its workspace, and the tracer
/// sends the rest. The tracer records these steps, too, so recordings and re-executions take them in this one
/// order.
///
/// @param workspace what came back, or null
/// @param refused why no acceptable workspace came back, or null
/// @param undrained why the tracer's last events may be missing, or null
public record AgentHandover(
        WorkspaceDisk.@Nullable Unpacked workspace,
        @Nullable VmException refused,
        @Nullable VmException undrained) {
    private static final Duration DRAIN_TIMEOUT = Duration.ofMinutes(2);
    private static final Duration COLLECT_TIMEOUT = Duration.ofMinutes(10);

    /// Performs the handover.
    ///
    /// @param target folder for the workspace; must not exist
    /// @param drained runs when the tracer has sent what the agent did: from then on it may legitimately be
    ///     silent
    /// @throws VmException when the machine fails before the workspace has arrived
    public static AgentHandover of(Machine machine, Path target, Runnable drained) throws VmException {
        machine.drain(DRAIN_TIMEOUT);
        drained.run();
        WorkspaceDisk.Unpacked workspace = null;
        VmException refused = null;
        try {
            workspace = collect(machine, target);
        } catch (VmException e) {
            if (e.code() != Code.WORKSPACE_REFUSED && e.code() != Code.DISK_FULL) {
                throw e;
            }
            refused = e;
        }
        try {
            machine.drain(DRAIN_TIMEOUT);
            return new AgentHandover(workspace, refused, null);
        } catch (VmException e) {
            return new AgentHandover(workspace, refused, e);
        }
    }

    private static WorkspaceDisk.Unpacked collect(Machine machine, Path target) throws VmException {
        try {
            Files.createDirectories(target.getParent());
        } catch (IOException e) {
            throw new VmException(Code.WORKSPACE_REFUSED, "its folder cannot be created: " + e.getMessage(), e);
        }
        return machine.collect(target, TarFilter.Limits.DEFAULT, COLLECT_TIMEOUT);
    }
}
