/// Sealing: one writer per run orders events, gives them an index and closes batches with a signed checkpoint.
///
/// [RunSealer] is the pure part, owned by one thread; [RunRecorder] is the thread with its bounded queue.
/// A batch counts as recorded only after its sink has made it durable.
@NullMarked
package blackbox.recorder.seal;

import org.jspecify.annotations.NullMarked;
