package blackbox.calls.read;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/// What could not be read, each reason once.
final class Notes {
    private static final int NOTES_MAX = 16;

    private final Set<String> notes = new LinkedHashSet<>();

    void add(String what) {
        if (notes.size() < NOTES_MAX) {
            notes.add(what);
        }
    }

    List<String> list() {
        return List.copyOf(notes);
    }
}
