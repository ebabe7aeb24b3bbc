/// What can be done with a recorded run after it has ended: its captured files checked, its disk shown as it was at a
/// moment, the run executed again and compared.
///
/// May use schemas, query and vm-runtime. Never writes to the evidence of the run that it is about.
@NullMarked
package blackbox.replay;

import org.jspecify.annotations.NullMarked;
