package blackbox.schemas.event;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What fallocate(2) is to do with a range of a file.
///
/// @param bits a sum of FALLOC_FL_KEEP_SIZE (1), FALLOC_FL_PUNCH_HOLE (2) and so on, or whatever else the guest
///     asked for; 0 gives the range room, and lengthens the file if need be
public record AllocationMode(int bits) {

    /// By their bits; the bit without a name is none of a call's.
    private static final List<String> NAMES =
            List.of("keep-size", "punch-hole", "", "collapse-range", "zero-range", "insert-range", "unshare-range");

    /// The names of the bits with a `+` between them, as `punch-hole+keep-size`; those that this version does not know
    /// as a
    /// number, as `0x4`. Null for 0.
    public @Nullable String text() {
        var parts = new ArrayList<String>();
        int unknown = bits;
        for (int bit = NAMES.size() - 1; bit >= 0; bit--) {
            String name = NAMES.get(bit);
            if ((bits & 1 << bit) != 0 && !name.isEmpty()) {
                parts.add(name);
                unknown &= ~(1 << bit);
            }
        }
        if (unknown != 0) {
            parts.add("0x" + Integer.toHexString(unknown));
        }
        return parts.isEmpty() ? null : String.join("+", parts);
    }
}
