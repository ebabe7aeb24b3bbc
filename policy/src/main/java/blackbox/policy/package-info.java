/// An egress policy: who may be reached, in which way, and how much may be spent on it.
///
/// Values only; depends on nothing of ours, so that whoever checks a record can evaluate the policy that it was
/// made under. Never opens a file or a socket, never asks a resolver or a clock.
@NullMarked
package blackbox.policy;

import org.jspecify.annotations.NullMarked;
