/// Signed statements about files: in-toto statements in DSSE envelopes.
///
/// Values and their JSON, nothing else: no files, no clock, and only the streaming core of Jackson.
@NullMarked
package blackbox.evidence.attest;

import org.jspecify.annotations.NullMarked;
