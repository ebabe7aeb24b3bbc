package blackbox.replay.divergence.align;

import blackbox.schemas.row.Column;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.PrivilegeView;
import java.util.Set;

/// Whether the agent of one side has mounted anything, or may have.
///
/// An act whose actor is not known counts as the agent's, unless it came before the first one that is known, and that
/// one is of what runs the agent: while the guest gets ready, its tracer cannot tell, and there is no agent.
final class Mounts {
    private static final Set<String> CALLS = Set.of("mount", "unshare", "setns");

    private boolean told;
    private boolean early;
    private boolean any;

    /// Takes the next event.
    void see(EventView event) {
        if (!told && event.row().has(Column.ACTOR)) {
            told = true;
            any = early && !event.isBySupervisor();
        }
        if (event instanceof PrivilegeView.Use use
                && !use.isBySupervisor()
                && CALLS.contains(String.valueOf(use.what()))) {
            early |= !told;
            any |= told;
        }
    }

    boolean any() {
        return any || early && !told;
    }
}
