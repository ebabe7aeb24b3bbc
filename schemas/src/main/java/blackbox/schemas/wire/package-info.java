/// The guest's wire format: the BPF ring's records as they are, each a frame of a 64-byte header and TLVs.
///
/// Specified in `schemas/wire.md`. The sender is hostile: every length is checked before it is believed, and
/// malformed input is reported as a value, never dropped silently.
@NullMarked
package blackbox.schemas.wire;

import org.jspecify.annotations.NullMarked;
