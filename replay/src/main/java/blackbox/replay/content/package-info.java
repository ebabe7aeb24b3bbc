/// Compares the content of two streams of octets, a recorded one and a replay's: octet for octet, but a time may
/// stand for another one where each lies in the window in which its side wrote it.
///
/// Knows neither files nor output nor verdicts: its callers say where octets come from and when they were written.
/// Memory does not depend on how long the streams are. Never takes anything for a time by its looks alone.
@NullMarked
package blackbox.replay.content;

import org.jspecify.annotations.NullMarked;
