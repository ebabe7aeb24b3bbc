/// Signed statements about files: in-toto statements in DSSE envelopes.
///
/// Values and their JSON, nothing else: no files, no clock, and of Jackson only its streaming core, so that the
/// verifier can use them. They are here rather than in `schemas` because `schemas` has no JSON library and needs none.
@NullMarked
package blackbox.query.attest;

import org.jspecify.annotations.NullMarked;
