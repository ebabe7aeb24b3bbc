/// How evidence is written for people: times, and text that acts on no terminal.
@NullMarked
package blackbox.evidence.text;

import org.jspecify.annotations.NullMarked;
