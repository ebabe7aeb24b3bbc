/// Lists of hosts that other sandboxes are configured with, as egress policies.
///
/// A list never becomes wider: what cannot be said as exactly in a policy is refused or said in a comment.
@NullMarked
package blackbox.policy.foreign;

import org.jspecify.annotations.NullMarked;
