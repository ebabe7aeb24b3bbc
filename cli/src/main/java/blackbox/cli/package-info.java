/// The `blackbox` program: its commands.
///
/// It parses and checks what people typed, calls the other modules, and turns failures into one sentence and
/// an exit code. It never decides what is true about a run: sealing, verifying and answering are done in the
/// modules below.
@NullMarked
package blackbox.cli;

import org.jspecify.annotations.NullMarked;
