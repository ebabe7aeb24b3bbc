/// Carries the packages of an image and of unpacked QEMUs from one data folder to another in one file, so that the
/// other builds the same octets without a mirror; and renews the locks that ship. `schemas/image-archive.md` has the
/// form.
///
/// A file is checked whole before anything of it is taken. Never builds or runs what it carries.
@NullMarked
package blackbox.vm.carry;

import org.jspecify.annotations.NullMarked;
