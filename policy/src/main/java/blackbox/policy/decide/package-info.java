/// What a policy says of a request: a pure function of the policy and of what is known about the request.
@NullMarked
package blackbox.policy.decide;

import org.jspecify.annotations.NullMarked;
