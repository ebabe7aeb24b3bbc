/// What keeps a recording fed while a machine runs: the tracer's stream and the frames of its interface on
/// threads of their own, what its hypervisor reports, and a watch on the tracer's heartbeat. Findings about
/// silence, broken streams and an unfinished tracer are made here and nowhere else.
///
/// Knows no hypervisor: it takes streams, and hands events to an `EventSink`. A recording seals them, a
/// replay compares them.
@NullMarked
package blackbox.recorder.feed;

import org.jspecify.annotations.NullMarked;
