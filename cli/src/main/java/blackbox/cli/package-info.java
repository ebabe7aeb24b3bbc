/// The `blackbox` program: its commands.
///
/// It parses, checks what people typed, has the other modules do it, and turns failures into one sentence and an exit
/// code. It never decides what is true about a run: sealing, verifying and answering are done below.
@NullMarked
package blackbox.cli;

import org.jspecify.annotations.NullMarked;
