/// A witness for other people's logs (C2SP tlog-witness): it remembers one checkpoint of each log it knows,
/// and cosigns what continues it.
///
/// The decision is `blackbox.evidence.witness`'s; here are the record on the disk, the key and the clock.
/// What HTTP carries it is the command line's business.
@NullMarked
package blackbox.recorder.witness;

import org.jspecify.annotations.NullMarked;
