package blackbox.vm.qemu;

import blackbox.vm.VmException;
import java.util.List;

/// Of what a build of QEMU is made.
///
/// @param lock the packages that ship; a build says in what it differs from them
/// @param packages those that are asked for by name, when the lock cannot be had; what they depend on comes along
/// @param files what of the packages runs: programs, libraries, firmware; folders and files by path
record QemuParts(QemuLock lock, List<String> packages, List<String> files) {
    /// Manuals, menus and services stay out.
    private static final List<String> FILES = List.of(
            "usr/bin/qemu-system-x86_64",
            "usr/bin/qemu-img",
            "usr/lib/x86_64-linux-gnu",
            "usr/share/qemu",
            "usr/share/seabios");

    private static final List<String> PACKAGES = List.of("qemu-system-x86", "qemu-utils", "seabios");

    /// Debian's QEMU, of the packages that this Blackbox was tried with.
    static QemuParts shipped() throws VmException {
        return new QemuParts(QemuLock.shipped(), PACKAGES, FILES);
    }
}
