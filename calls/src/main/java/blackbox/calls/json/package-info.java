/// JSON in pieces of any size and any length: only what a [Shape] asks for is kept, and never more than its bounds.
@NullMarked
package blackbox.calls.json;

import org.jspecify.annotations.NullMarked;
