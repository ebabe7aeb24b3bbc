/// Who may pause, continue and end a run while it is recorded, how that reaches its recorder, and what the record says
/// of it (`docs/decisions/0274-a-stop-with-evidence.md`).
@NullMarked
package blackbox.node.control;

import org.jspecify.annotations.NullMarked;
