/// What this machine can do for Blackbox, and how to get what is missing.
///
/// Looks only; changes nothing but the cache of the accelerator's self-test.
@NullMarked
package blackbox.cli.doctor;

import org.jspecify.annotations.NullMarked;
