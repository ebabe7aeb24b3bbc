/// Outside parties who attest when the log of runs was in which state: time-stamping authorities (RFC 3161)
/// and witnesses (C2SP tlog-witness), asked over HTTP.
///
/// Their answers are checked before they are stored; a failure to answer is a value, not an exception:
/// nothing that was recorded is lost when an anchor is late.
@NullMarked
package blackbox.recorder.anchor;

import org.jspecify.annotations.NullMarked;
