package blackbox.schemas.view;

/// What the hypervisor reported, and what is stored beside the events.
public abstract sealed class VmView extends EventView {

    VmView() {}

    /// `vm.lifecycle`.
    public static final class Lifecycle extends VmView {
        Lifecycle() {}
    }

    /// `vm.capture`: a segment of a file that the host stores.
    public static final class Capture extends VmView {
        Capture() {}
    }
}
