package blackbox.evidence.verify;

import blackbox.evidence.verify.Verification.Finding;
import blackbox.evidence.verify.Verification.Integrity;
import java.util.ArrayList;
import java.util.List;

/// Collects findings while a run is verified; keeps the first ones and counts the rest.
final class Findings {

    private static final int KEPT_MAX = 100;

    private final List<Finding> kept = new ArrayList<>();
    private long unkept;
    private boolean tampered;
    private boolean truncated;

    /// Evidence that is not what was recorded.
    void tampered(long index, String what) {
        tampered = true;
        add(index, what);
    }

    /// Evidence that is missing at the end.
    void truncated(long index, String what) {
        truncated = true;
        add(index, what);
    }

    /// Something worth knowing that does not contradict the evidence.
    void note(long index, String what) {
        add(index, what);
    }

    private void add(long index, String what) {
        if (kept.size() < KEPT_MAX) {
            kept.add(new Finding(index, what));
        } else {
            unkept++;
        }
    }

    boolean isTampered() {
        return tampered;
    }

    boolean isTruncated() {
        return truncated;
    }

    Integrity integrity() {
        return tampered ? Integrity.TAMPERED : Integrity.VERIFIED;
    }

    List<Finding> all() {
        var all = new ArrayList<>(kept);
        if (unkept > 0) {
            all.add(new Finding(-1, "and " + unkept + " more findings"));
        }
        return all;
    }
}
