/// What this machine can do for Blackbox, and how to get what is missing.
///
/// Looks only, unless it is asked to get what is missing; changes nothing but caches then.
@NullMarked
package blackbox.node.doctor;

import org.jspecify.annotations.NullMarked;
