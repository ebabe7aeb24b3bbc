/// The only package that imports Bouncy Castle: Ed25519 keys that sign and verify notes.
///
/// Bouncy Castle signs about twenty times faster than the JDK's provider (reference figures, repeated by `make bench`).
/// Keys are values here; who keeps them on disk, and with which permissions, is the recorder's business.
@NullMarked
package blackbox.schemas.sign;

import org.jspecify.annotations.NullMarked;
