/// Machines that do again what one of the exact tier did: at one go, or step by step, with checkpoints on the
/// way from which a later one goes on. They are QEMU's alone, as is the log that they execute.
@NullMarked
package blackbox.vm.replay;

import org.jspecify.annotations.NullMarked;
