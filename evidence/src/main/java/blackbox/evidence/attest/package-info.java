/// Signed statements about files: in-toto statements in DSSE envelopes.
///
/// Values and their JSON, nothing else: no files, no clock, and of Jackson only its streaming core.
@NullMarked
package blackbox.evidence.attest;

import org.jspecify.annotations.NullMarked;
