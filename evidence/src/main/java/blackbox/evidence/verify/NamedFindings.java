package blackbox.evidence.verify;

import blackbox.schemas.event.Finding;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The findings in a run's rows, by their names. A guest can cause as many of one name as it likes: of each name the
/// first few are kept and the others counted, so that none hides another.
final class NamedFindings {

    private static final int OF_A_NAME_MAX = 10;
    private static final int NAMES_MAX = 64;
    private static final int NAME_CHARS_MAX = 64;

    private static final String OTHERS = "findings of other names";

    private final Map<String, Named> named = new LinkedHashMap<>();

    private static final class Named {
        private final List<Verification.Finding> kept = new ArrayList<>();
        private final boolean unknown;
        private long count;

        Named(boolean unknown) {
            this.unknown = unknown;
        }
    }

    /// Adds one of the recorder's.
    ///
    /// @param finding null if this version does not know the name
    void add(long index, String name, @Nullable Finding finding) {
        boolean unknown = finding == null || finding == Finding.GUEST_SILENT || finding.leavesUnknown();
        add(
                index,
                name,
                unknown,
                finding == null
                        ? "a finding that this version of Blackbox does not know: events may be missing"
                        : finding.words());
    }

    /// Adds one that makes what is lost unknown.
    void add(long index, String name, String words) {
        add(index, name, true, words);
    }

    private void add(long index, String name, boolean unknown, String words) {
        String cut = name.length() <= NAME_CHARS_MAX ? name : name.substring(0, NAME_CHARS_MAX) + "…";
        boolean room = named.containsKey(cut) || named.size() < NAMES_MAX;
        Named same = named.computeIfAbsent(room ? cut : OTHERS, _ -> new Named(unknown));
        same.count++;
        if (same.kept.size() < OF_A_NAME_MAX) {
            same.kept.add(new Verification.Finding(index, cut + ": " + words));
        }
    }

    /// Those that are kept, by index, and how many there are more of each name.
    List<Verification.Finding> all() {
        var all = new ArrayList<Verification.Finding>();
        named.values().forEach(same -> all.addAll(same.kept));
        all.sort(Comparator.comparingLong(Verification.Finding::index));
        named.forEach((name, same) -> {
            if (same.count > same.kept.size()) {
                all.add(new Verification.Finding(-1, name + ": " + (same.count - same.kept.size()) + " more"));
            }
        });
        return all;
    }

    /// The names of those that make what is lost unknown, a silence among them.
    List<String> unknown() {
        return named.entrySet().stream()
                .filter(each -> each.getValue().unknown)
                .map(Map.Entry::getKey)
                .toList();
    }
}
