/// Carries a folder into a VM as a disk that holds a tar, and back out of one that the guest wrote.
///
/// On the way out the guest is taken to be hostile: only an archive that we wrote ourselves, header by header, from
/// what was allowed ever reaches a program that makes files. Knows nothing of virtual machines.
@NullMarked
package blackbox.vm.workspace;

import org.jspecify.annotations.NullMarked;
