/// What this machine can do for Blackbox, and how to get what is missing.
///
/// Only looks, unless it is asked to fetch what is missing; even then it changes nothing but caches.
@NullMarked
package blackbox.node.doctor;

import org.jspecify.annotations.NullMarked;
