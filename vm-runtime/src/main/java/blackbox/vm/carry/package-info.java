/// Carries the packages of an image and of unpacked QEMUs from one data folder to another in one file, so
/// that the other builds the same octets without a mirror; and renews the shipped locks. The format is
/// specified in `schemas/image-archive.md`.
///
/// A file is checked completely before anything of it is imported. Never builds or runs what it carries.
@NullMarked
package blackbox.vm.carry;

import org.jspecify.annotations.NullMarked;
