/// What one host does: records runs, replays them and keeps the verdicts, serves recordings over HTTP, looks after
/// its keys and checks whether it is able to do all that.
///
/// Wires capture, machines, ingest and answers together; knows nothing of the command line.
@NullMarked
package blackbox.node;

import org.jspecify.annotations.NullMarked;
