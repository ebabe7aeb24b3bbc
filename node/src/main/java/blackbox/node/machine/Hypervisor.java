package blackbox.node.machine;

import blackbox.schemas.Progress;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.confine.Confinement;
import blackbox.vm.host.QemuHost;
import blackbox.vm.image.GuestFiles;
import blackbox.vm.machine.MachineHost;
import blackbox.vm.qemu.GuestCompiler;

/// The hypervisor that runs this host's machines. A second one is chosen here, and nowhere else.
public final class Hypervisor {

    private Hypervisor() {}

    /// What opens it; until then nothing is looked for.
    public static MachineHost.Opener opener() {
        return QemuHost::open;
    }

    /// What compiles a guest program for an image, in a machine of the image's.
    ///
    /// @param program the guest file that is executed
    /// @param path of the guest file that it makes
    public static GuestFiles.Derivation compiler(DataFolder data, String program, String path, Progress progress) {
        return new GuestCompiler(data.root(), program, path, progress);
    }

    /// From now on, this process confines no hypervisor that it starts.
    public static void giveUpConfinement() {
        Confinement.giveUp();
    }
}
