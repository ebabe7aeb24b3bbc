/// Machines that repeat what one of the exact tier did: in one go, or step by step, with checkpoints on the
/// way from which a later one resumes. They are specific to QEMU, as is the log that they execute.
@NullMarked
package blackbox.vm.replay;

import org.jspecify.annotations.NullMarked;
