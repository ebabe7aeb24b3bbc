package blackbox.node.machine;

import blackbox.vm.host.QemuHost;
import blackbox.vm.machine.MachineHost;

/// The hypervisor that runs this host's machines. A second one is chosen here, and nowhere else.
public final class Hypervisor {

    private Hypervisor() {}

    /// What opens it; until then nothing is looked for.
    public static MachineHost.Opener opener() {
        return QemuHost::open;
    }
}
