/// What a rule may spend, and the account of what was spent.
@NullMarked
package blackbox.policy.budget;

import org.jspecify.annotations.NullMarked;
