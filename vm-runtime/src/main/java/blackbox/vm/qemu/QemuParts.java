package blackbox.vm.qemu;

import blackbox.vm.VmException;
import java.util.List;

/// What a build of QEMU is made from.
///
/// @param lock the shipped packages; a build's record says how it differs from them
/// @param packages those that are requested by name if the lock is not available; their dependencies are
///     added
/// @param files the parts of the packages that run: programs, libraries, firmware; folders and files by path
record QemuParts(QemuLock lock, List<String> packages, List<String> files) {
    /// Manuals, menus and services stay out.
    private static final List<String> FILES = List.of(
            "usr/bin/qemu-system-x86_64",
            "usr/bin/qemu-img",
            "usr/lib/x86_64-linux-gnu",
            "usr/share/qemu",
            "usr/share/seabios");

    private static final List<String> PACKAGES = List.of("qemu-system-x86", "qemu-utils", "seabios");

    /// Debian's QEMU, from the packages with which this Blackbox was tested.
    static QemuParts shipped() throws VmException {
        return new QemuParts(QemuLock.shipped(), PACKAGES, FILES);
    }
}
