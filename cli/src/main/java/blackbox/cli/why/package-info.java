/// The commands `blackbox why` and `blackbox caused`: from an event to the model's answer that it follows from, and
/// back. They print; what follows from what is decided in `query`.
@NullMarked
package blackbox.cli.why;

import org.jspecify.annotations.NullMarked;
