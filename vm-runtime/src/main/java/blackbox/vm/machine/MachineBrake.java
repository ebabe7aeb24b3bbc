package blackbox.vm.machine;

import blackbox.vm.VmException;

/// Stops a machine's guest from outside, whatever the guest does. Any thread, one call at a time.
public interface MachineBrake {

    /// What a machine is doing.
    enum State {
        /// Its guest executes instructions.
        RUNNING,
        /// The hypervisor has stopped the guest's processors.
        STOPPED,
        /// The host's kernel has stopped the hypervisor.
        HELD
    }

    /// Has the hypervisor stop the guest's processors, and with them the guest's clocks. What the guest has handed
    /// over by then still arrives.
    ///
    /// @throws VmException `TIMEOUT` if the hypervisor does not do so soon; [#hold] works nevertheless
    void stop() throws VmException;

    /// Has the host's kernel stop the hypervisor's process, which is not asked: nothing arrives until [#release].
    ///
    /// @throws VmException when the kernel does not say that it has
    void hold() throws VmException;

    /// Lets the hypervisor and the guest's processors run on.
    void release() throws VmException;

    /// What the machine is doing, in the words of the host's kernel if it is held, and otherwise in the
    /// hypervisor's.
    ///
    /// @throws VmException when neither says anything that is a [State]
    State look() throws VmException;
}
