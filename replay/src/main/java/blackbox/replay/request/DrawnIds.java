package blackbox.replay.request;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Ids that each side drew for itself, each of which stands for one of the other side's, and for no other. Owned by one
/// thread.
public final class DrawnIds {
    /// How many are known; what is drawn after that differs.
    static final int IDS_MAX = 1 << 16;

    private final RecordedWords recording;
    private final Map<String, String> actualOf = new HashMap<>();
    private final Map<String, String> recordedOf = new HashMap<>();

    /// @param recording the words of all that was said in it
    public DrawnIds(RecordedWords recording) {
        this.recording = recording;
    }

    /// What a recorded id stands for, by it.
    public Map<String, String> all() {
        return Map.copyOf(actualOf);
    }

    /// The replay's id that a recorded one stands for, or null.
    @Nullable
    String actualOf(String recorded) {
        return actualOf.get(recorded);
    }

    /// Whether neither of two ids stands for any other yet, and the actual one is nowhere in the recording: who
    /// draws an id does not draw one that is there.
    ///
    /// @param more how many are about to be tied
    boolean areFree(String recorded, String actual, int more) {
        return actualOf.size() + more < IDS_MAX
                && !actualOf.containsKey(recorded)
                && !recordedOf.containsKey(actual)
                && !recording.mayHave(actual);
    }

    /// From now on they stand for each other.
    ///
    /// @throws IllegalStateException when one of them stands for another one
    void tie(String recorded, String actual) {
        if (actualOf.containsKey(recorded) || recordedOf.containsKey(actual)) {
            throw new IllegalStateException("it stands for another id");
        }
        actualOf.put(recorded, actual);
        recordedOf.put(actual, recorded);
    }
}
