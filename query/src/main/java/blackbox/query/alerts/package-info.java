/// What detection rules found in a run while it was recorded.
@NullMarked
package blackbox.query.alerts;

import org.jspecify.annotations.NullMarked;
