/// An exact recording, executed again to its end by [blackbox.replay.exact.ExactReplayer], with all that the
/// machine sends compared octet for octet; and QEMU's log of such a recording, read without QEMU: how far it goes,
/// and where it was truncated.
///
/// May use vm-runtime and the recorder's decoders.
@NullMarked
package blackbox.replay.exact;

import org.jspecify.annotations.NullMarked;
