/// What a rule wants of an event, as a tree of conditions over its fields.
@NullMarked
package blackbox.rules.condition;

import org.jspecify.annotations.NullMarked;
