/// The person at the terminal: what they are told while they wait, the keys they type, the signals they send.
///
/// It knows standard input and error, stty(1) and the JVM's signals, but no command and no recording. Whatever it
/// changes about the terminal or a signal's handler, it restores.
@NullMarked
package blackbox.cli.terminal;

import org.jspecify.annotations.NullMarked;
