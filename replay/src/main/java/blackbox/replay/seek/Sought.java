package blackbox.replay.seek;

import blackbox.replay.exact.GuestClock;
import blackbox.replay.seek.SeekIndex.Place;
import org.jspecify.annotations.Nullable;

/// The frame that a seek looks for.
///
/// @param seq its number
/// @param ktimeNs its time
/// @param clock the guest's
record Sought(long seq, long ktimeNs, GuestClock clock) {
    /// About where it is, counted from the last known frame at or before it; null when none is known.
    @Nullable
    Long position(SeekIndex index) {
        Place below = index.floor(seq);
        return below == null ? null : (Long) clock.after(below.position(), ktimeNs - below.ktimeNs());
    }
}
