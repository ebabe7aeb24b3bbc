/// Small files that survive a crash: replaced whole, durable when the call returns.
@NullMarked
package blackbox.recorder.disk;

import org.jspecify.annotations.NullMarked;
