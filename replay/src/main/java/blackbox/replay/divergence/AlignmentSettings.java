package blackbox.replay.divergence;

import blackbox.replay.divergence.strand.AgreedPeers;

/// How an alignment is made and shown.
///
/// @param context how many events before and after the divergence are shown, of each side
/// @param hashKey a random number that the guest cannot know: events are compared by hashes under it
/// @param exact whether the second side is an exact replay of the first: what no input explains is then the
///     engine's fault
/// @param agreedPeers whose connections are of the path
public record AlignmentSettings(int context, long hashKey, boolean exact, AgreedPeers agreedPeers) {

    public static final int CONTEXT_DEFAULT = 3;
    public static final int CONTEXT_MAX = 100;

    public AlignmentSettings {
        if (context < 0 || context > CONTEXT_MAX) {
            throw new IllegalArgumentException("context is 0 to " + CONTEXT_MAX + " events, not " + context);
        }
    }

    public AlignmentSettings(int context, long hashKey, boolean exact) {
        this(context, hashKey, exact, AgreedPeers.NONE);
    }

    public static AlignmentSettings of(long hashKey) {
        return new AlignmentSettings(CONTEXT_DEFAULT, hashKey, false);
    }

    /// The same with these [#agreedPeers].
    public AlignmentSettings with(AgreedPeers peers) {
        return new AlignmentSettings(context, hashKey, exact, peers);
    }
}
