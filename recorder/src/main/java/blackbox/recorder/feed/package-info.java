/// What feeds a recording while a machine runs: the tracer's stream and the frames of its interface, each on
/// its own thread, the reports of its hypervisor, and a watch on the tracer's heartbeat. Findings about
/// silence, broken streams and an unfinished tracer are made here and nowhere else.
///
/// Knows no hypervisor: it takes streams, and passes events to an `EventSink`. A recording seals them, a
/// replay compares them.
@NullMarked
package blackbox.recorder.feed;

import org.jspecify.annotations.NullMarked;
