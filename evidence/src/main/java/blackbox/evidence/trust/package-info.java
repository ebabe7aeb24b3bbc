/// Who may sign what: the run key certificate, key statements and their consequences, and the chain of a
/// run's epoch keys. Specified in `schemas/trust.md`.
///
/// Pure values and decisions: no key is stored, no clock is read and no file is opened here.
@NullMarked
package blackbox.evidence.trust;

import org.jspecify.annotations.NullMarked;
