/// Whether a guest's kernel and its host saw the same network: what left the guest, against what its processes were
/// seen to begin.
///
/// Pure over a run's rows in their order, so that a recorder seals what follows as it happens, and whoever reads the
/// run later finds the same. Bounded memory. Asks nobody, and knows no gateway: only what is recorded of one.
@NullMarked
package blackbox.evidence.sides;

import org.jspecify.annotations.NullMarked;
