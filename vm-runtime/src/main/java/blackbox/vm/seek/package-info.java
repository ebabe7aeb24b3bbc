/// Positions within an exact recording: the state that a machine paused at one instruction leaves behind, and
/// how another process resumes from there.
@NullMarked
package blackbox.vm.seek;

import org.jspecify.annotations.NullMarked;
