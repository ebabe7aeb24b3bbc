/// How evidence is written for people: times, and text that cannot control a terminal.
@NullMarked
package blackbox.evidence.text;

import org.jspecify.annotations.NullMarked;
