/// What commands write their answers with: JSON, and a standard output that knows whether it took all of them.
///
/// It decides nothing about an answer: those are made in `query.answer` and in `node`. It knows no command and no
/// option, and reads no recording.
@NullMarked
package blackbox.cli.output;

import org.jspecify.annotations.NullMarked;
