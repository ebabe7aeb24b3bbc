/// What QEMU logged of an exact recording, read without QEMU: how far it goes, and where it was cut.
///
/// Pure: streams in, values out.
@NullMarked
package blackbox.replay.exact;

import org.jspecify.annotations.NullMarked;
