/// The `blackbox` program: its commands, the `serve` process, and the wiring of all modules into one.
///
/// The only module that knows every other. It parses, checks what people typed, starts and stops things in the right
/// order, and turns failures into one sentence and an exit code.
/// It never decides what is true about a run: sealing, verifying and answering are done below.
@NullMarked
package blackbox.cli;

import org.jspecify.annotations.NullMarked;
