/// Re-executions of runs that were recorded live, kept in the form of exact recordings so that every moment of them
/// can be landed in: what they consist of, where they are stored, and which of their events stand for which of the
/// run's. `schemas/replay.md` specifies the files.
@NullMarked
package blackbox.replay.kept;

import org.jspecify.annotations.NullMarked;
