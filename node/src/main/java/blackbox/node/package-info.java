/// What one host does: records runs, replays them and keeps the verdicts, serves recordings over HTTP, looks after its
/// keys and says whether it is fit for all that.
///
/// Wires capture, machines, ingest and answers together; knows no command line.
@NullMarked
package blackbox.node;

import org.jspecify.annotations.NullMarked;
