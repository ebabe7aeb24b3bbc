/// What all parts of the VM runtime share: its one exception, running tools, fingerprints of files.
///
/// `image` builds guest images, `carry` transfers their packages, `workspace` carries folders in and out,
/// `machine` is the port through which machines are used, and `host` implements it with QEMU, built on
/// `process`, `snapshot`, `qmp` and, for any hypervisor, `guest`; `replay` executes an exact recording again.
/// `confine` is the wall around its processes. Depends on `schemas`, `files`, Jackson and JNA only; knows
/// nothing about events, batches or storage.
@NullMarked
package blackbox.vm;

import org.jspecify.annotations.NullMarked;
