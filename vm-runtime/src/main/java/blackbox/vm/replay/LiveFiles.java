package blackbox.vm.replay;

import blackbox.schemas.folder.CaptureName;
import blackbox.vm.VmException;
import blackbox.vm.replay.ReplayCheckpoints.MachineFiles;
import blackbox.vm.seek.LiveFile;
import blackbox.vm.workspace.WorkspaceDisk;
import java.nio.file.Path;

/// The files of a running machine whose pages checkpoints store.
///
/// @param ram its RAM
/// @param state the guest's disk
/// @param workspace the disk on which the workspace comes back
record LiveFiles(LiveFile ram, LiveFile state, LiveFile workspace) implements AutoCloseable {
    /// Opens them.
    ///
    /// @param captures of the recording
    /// @param scratch a folder for the disks as they were at first, which lasts as long as this
    static LiveFiles open(Path captures, MachineFiles files, Path scratch) throws VmException {
        Path state = scratch.resolve("state.first");
        ReplayCheckpoints.stateAtStart(captures, state);
        Path empty = scratch.resolve("workspace.first");
        WorkspaceDisk.create(empty);
        LiveFile ram = LiveFile.open(CaptureName.RAM.in(captures), files.ram());
        LiveFile disk = null;
        try {
            disk = LiveFile.open(state, files.state());
            return new LiveFiles(ram, disk, LiveFile.open(empty, files.workspace()));
        } catch (VmException e) {
            ram.close();
            if (disk != null) {
                disk.close();
            }
            throw e;
        }
    }

    @Override
    public void close() {
        ram.close();
        state.close();
        workspace.close();
    }
}
