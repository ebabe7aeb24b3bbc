package blackbox.replay.divergence;

/// How an alignment is made and shown.
///
/// @param context how many events before and after the divergence are shown, of each side
/// @param hashKey a random number that the guest cannot know: events are compared by hashes under it
/// @param exact whether the second side is an exact replay of the first: what no input explains is then the
///     engine's fault
public record AlignmentSettings(int context, long hashKey, boolean exact) {

    public static final int CONTEXT_DEFAULT = 3;
    public static final int CONTEXT_MAX = 100;

    public AlignmentSettings {
        if (context < 0 || context > CONTEXT_MAX) {
            throw new IllegalArgumentException("context is 0 to " + CONTEXT_MAX + " events, not " + context);
        }
    }

    public static AlignmentSettings of(long hashKey) {
        return new AlignmentSettings(CONTEXT_DEFAULT, hashKey, false);
    }
}
