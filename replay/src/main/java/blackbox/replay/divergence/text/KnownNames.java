package blackbox.replay.divergence.text;

import blackbox.replay.content.OwnIds;
import org.jspecify.annotations.Nullable;

/// What is known of one side's names before its events are read: nothing in the first reading; all words of both
/// sides in the second; in the third also which made-up names stand for each other.
///
/// @param own all words of this side, or null
/// @param other all words of the other side, or null
/// @param standIns by the hash of a made-up name, what it counts as; null where that is not known
/// @param ids which of its words are ids that stand for others
/// @param drawn ids that this side drew, in place of which it counts as having those of the other side
/// @param again whether a name that was taken away and is made up again counts as another name
public record KnownNames(
        @Nullable WordSet own,
        @Nullable WordSet other,
        @Nullable GenerationalCache standIns,
        StandingIds ids,
        OwnIds drawn,
        boolean again) {

    public static final KnownNames NOTHING = new KnownNames(null, null, null, StandingIds.NONE, OwnIds.NONE, false);

    /// Nothing but ids.
    public static KnownNames of(StandingIds ids, OwnIds drawn) {
        return new KnownNames(null, null, null, ids, drawn, false);
    }

    /// The same, with what names stand for.
    public KnownNames with(GenerationalCache allStandIns) {
        return new KnownNames(own, other, allStandIns, ids, drawn, again);
    }

    /// The same, with all words of this side and of the other one.
    public KnownNames with(WordSet allOfOwn, WordSet allOfOther) {
        return new KnownNames(allOfOwn, allOfOther, standIns, ids, drawn, again);
    }

    /// The same, where names that are made up again are other names.
    public KnownNames withNamesMadeUpAgain() {
        return new KnownNames(own, other, standIns, ids, drawn, true);
    }

    boolean isNothing() {
        return own == null;
    }

    /// Whether the word is also on the other side, and so was not made up on this one.
    boolean isOnOtherSide(long word) {
        return other != null && other.contains(word);
    }

    /// Whether this side has such a mark at any time.
    boolean isMarked(long mark) {
        return own != null && own.contains(mark);
    }
}
