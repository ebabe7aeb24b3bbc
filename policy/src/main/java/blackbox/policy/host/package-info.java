/// Names, addresses, ports and paths as a policy compares them: each has one written form, and what has none is
/// refused.
@NullMarked
package blackbox.policy.host;

import org.jspecify.annotations.NullMarked;
