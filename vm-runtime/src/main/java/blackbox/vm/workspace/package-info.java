/// Carries a folder into a VM on a disk that holds a tar, and back out on one that the guest wrote.
///
/// On the way out the guest is assumed to be hostile: the only archive that reaches a program that creates
/// files is one that we wrote ourselves, header by header, from what was allowed. Knows nothing about virtual
/// machines.
@NullMarked
package blackbox.vm.workspace;

import org.jspecify.annotations.NullMarked;
