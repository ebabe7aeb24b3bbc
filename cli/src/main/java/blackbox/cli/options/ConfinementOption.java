package blackbox.cli.options;

import blackbox.node.machine.Hypervisor;
import picocli.CommandLine.Option;

/// For every command that starts VMs; add it as `@Mixin`.
public final class ConfinementOption {

    @Option(
            names = "--unconfined",
            description = "Start the VM where it cannot be confined, too. A guest that breaks out of QEMU then has all"
                    + " that you have: keys, recordings, files. The record says so.")
    void set(boolean unconfined) {
        if (unconfined) {
            Hypervisor.giveUpConfinement();
        }
    }
}
