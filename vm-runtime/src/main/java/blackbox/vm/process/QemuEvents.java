package blackbox.vm.process;

import blackbox.vm.machine.MachineEvent;
import blackbox.vm.qmp.QmpEvent;
import org.jspecify.annotations.Nullable;

/// QEMU's asynchronous events, as a machine's events.
public final class QemuEvents {

    private QemuEvents() {}

    public static MachineEvent of(QmpEvent event) {
        String detail = event.data().isEmpty() ? null : event.data().toString();
        return new MachineEvent(event.name(), detail, halted(event));
    }

    /// A full disk is reported by the machine itself, to whoever waits for its guest.
    private static @Nullable String halted(QmpEvent event) {
        if (!event.name().equals("BLOCK_IO_ERROR")
                || !event.data().path("action").asText().equals("stop")
                || event.data().path("nospace").asBoolean()) {
            return null;
        }
        return "the host could not " + event.data().path("operation").asText() + " the VM's disk '"
                + event.data().path("node-name").asText() + "', so QEMU stopped the VM";
    }
}
