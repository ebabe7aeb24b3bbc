/// The demo: a scripted agent, the workspace it works in, the loopback service it calls, and what is shown at the end.
///
/// Everything it needs is in this package's resources; it touches no network but loopback.
@NullMarked
package blackbox.cli.demo;

import org.jspecify.annotations.NullMarked;
