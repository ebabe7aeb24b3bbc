/// The guest's side of a machine, whatever runs it: the protocol of its first process on the control port,
/// its agent's standard streams, and its clock, which is kept with the host's where it has a pace of its own.
///
/// The guest is hostile: each thing it says is bounded and typed before it gets out of here.
@NullMarked
package blackbox.vm.guest;

import org.jspecify.annotations.NullMarked;
