/// Files that the host keeps beside a run's events while they grow: the log of the VM's disk, frames, a
/// replay log. What is in them is sealed a segment at a time, each by an event with its digest; see
/// `schemas/capture.md`.
///
/// Makes events and hands them on: it knows neither the sealer nor the VM.
@NullMarked
package blackbox.recorder.capture;

import org.jspecify.annotations.NullMarked;
