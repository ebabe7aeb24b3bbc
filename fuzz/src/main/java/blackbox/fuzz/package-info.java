/// Fuzzing: a target for each parser of octets that somebody hostile wrote, and what `make fuzz` runs.
///
/// A target is in the package of its parser where that is not public. `make test` gives each target its seeds and
/// every input that was ever found to break it (`src/test/resources/inputs`); `make fuzz` looks for more.
@NullMarked
package blackbox.fuzz;

import org.jspecify.annotations.NullMarked;
