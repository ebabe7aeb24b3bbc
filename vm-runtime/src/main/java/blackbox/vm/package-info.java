/// What every part of the VM runtime shares: its one exception, running a tool, sealing a file.
///
/// `image` builds guest images, `carry` takes their packages elsewhere, `workspace` carries folders in and out,
/// `qmp` speaks to QEMU, `machine` starts, restores and ends virtual machines. Depends on `schemas` and Jackson only;
/// never knows events, batches or storage.
@NullMarked
package blackbox.vm;

import org.jspecify.annotations.NullMarked;
