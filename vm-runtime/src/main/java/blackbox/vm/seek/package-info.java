/// Positions within an exact recording: what a machine that stands still at one instruction leaves behind,
/// and how another process goes on from there.
@NullMarked
package blackbox.vm.seek;

import org.jspecify.annotations.NullMarked;
