/// What rules ask of an event: categories and fields, and who started whom.
@NullMarked
package blackbox.rules.event;

import org.jspecify.annotations.NullMarked;
