/// Outside parties who say when the log of runs was what it is: time-stamping authorities (RFC 3161) and
/// witnesses (C2SP tlog-witness), asked over HTTP.
///
/// What they answer is checked before it is kept; what keeps them from answering is a value, not an
/// exception: an anchor that is late costs nothing that was recorded.
@NullMarked
package blackbox.recorder.anchor;

import org.jspecify.annotations.NullMarked;
