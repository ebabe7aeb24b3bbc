/// What every part of the VM runtime shares: its one exception, running a tool, sealing a file.
///
/// `image` builds guest images, `carry` takes their packages elsewhere, `workspace` carries folders in and
/// out, `machine` is the port through which machines are used, and `host` has QEMU behind it, of `process`,
/// `snapshot`, `qmp` and, for any hypervisor, `guest`; `replay` executes an exact recording again. Depends on
/// `schemas` and Jackson only; never knows events, batches or storage.
@NullMarked
package blackbox.vm;

import org.jspecify.annotations.NullMarked;
