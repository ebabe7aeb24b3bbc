/// What is sent to others: time authorities, witnesses, receivers of alerts and of traces.
@NullMarked
package blackbox.recorder.outbound;

import org.jspecify.annotations.NullMarked;
