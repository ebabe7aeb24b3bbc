/// The guest's side of a machine, whatever runs it: the protocol of its first process on the control port, its
/// agent's standard streams, and its clock, which is kept in step with the host's if it runs at its own pace.
///
/// The guest is hostile: everything it sends is bounded and typed before it leaves this package.
@NullMarked
package blackbox.vm.guest;

import org.jspecify.annotations.NullMarked;
