package blackbox.schemas.view;

/// What the hypervisor reported, what was done to it from the host, and what is stored beside the events.
public abstract sealed class VmView extends EventView {

    VmView() {}

    /// `vm.lifecycle`.
    public static final class Lifecycle extends VmView {
        Lifecycle() {}
    }

    /// `control.command`: `what` is the command.
    public static final class Command extends VmView {
        Command() {}
    }

    /// `control.probe`.
    public static final class Probe extends VmView {
        Probe() {}
    }

    /// `vm.capture`: a segment of a file that the host stores.
    public static final class Capture extends VmView {
        Capture() {}
    }
}
