/// The commands `blackbox pause`, `resume` and `kill`. They ask the recorder of a run and print its answer; what they
/// do is in `node.control`.
@NullMarked
package blackbox.cli.control;

import org.jspecify.annotations.NullMarked;
