/// What a run is told of on paper: a report that its reader keeps, signed so that no one can change it
/// unnoticed.
@NullMarked
package blackbox.report;

import org.jspecify.annotations.NullMarked;
