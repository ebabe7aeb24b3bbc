package blackbox.replay.request;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Ids that each side drew for itself, each of which stands for one of the other side's, and for no other. Owned by one
/// thread.
public final class DrawnIds {
    /// How many are known; what is drawn after that differs.
    static final int IDS_MAX = 1 << 16;

    private final Map<String, String> actualOf = new HashMap<>();
    private final Map<String, String> recordedOf = new HashMap<>();

    /// What a recorded id stands for, by it.
    public Map<String, String> all() {
        return Map.copyOf(actualOf);
    }

    /// The replay's id that a recorded one stands for, or null.
    @Nullable
    String actualOf(String recorded) {
        return actualOf.get(recorded);
    }

    /// Whether neither of two ids stands for any other yet.
    boolean areFree(String recorded, String actual) {
        return actualOf.size() < IDS_MAX && !actualOf.containsKey(recorded) && !recordedOf.containsKey(actual);
    }

    /// From now on they stand for each other.
    ///
    /// @throws IllegalStateException when one of them stands for another one
    void tie(String recorded, String actual) {
        if (!areFree(recorded, actual)) {
            throw new IllegalStateException("it stands for another id");
        }
        actualOf.put(recorded, actual);
        recordedOf.put(actual, recorded);
    }
}
