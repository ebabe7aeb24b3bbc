/// Which QEMU runs a machine and with which accelerator (`AcceleratorProbe`): the installed one, or Debian's,
/// unpacked below the data folder; and whether it can be trusted with record and replay, which only a trial can
/// show.
///
/// Starts QEMU only for trials of itself, never for a run.
@NullMarked
package blackbox.vm.qemu;

import org.jspecify.annotations.NullMarked;
