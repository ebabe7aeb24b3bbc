/// A witness for other people's logs (C2SP tlog-witness): it remembers one checkpoint of each log that it
/// knows, and cosigns those that extend it.
///
/// The decision is `blackbox.evidence.witness`'s; here are the record on the disk, the key and the clock. The
/// HTTP service is in module `node`.
@NullMarked
package blackbox.recorder.witness;

import org.jspecify.annotations.NullMarked;
