package blackbox.evidence.verify;

import blackbox.evidence.anchor.AnchorTrust;
import blackbox.evidence.anchor.AnchoredRange;
import blackbox.evidence.anchor.AnchoredRange.Logged;
import blackbox.evidence.anchor.Anchors;
import blackbox.evidence.store.TransparencyLogReader;
import blackbox.evidence.tiles.CheckedLog;
import blackbox.evidence.verify.Verification.Time;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What outside parties vouch for about the time of the run under verification.
final class AnchorCheck {

    private final AnchorTrust trust;
    private final Anchors anchors;
    private final List<Logged> logged;

    private AnchorCheck(AnchorTrust trust, Anchors anchors, List<Logged> logged) {
        this.trust = trust;
        this.anchors = anchors;
        this.logged = logged;
    }

    /// Reads the anchors of a log of runs that holds; null for one that is missing or does not hold.
    static AnchorCheck read(TransparencyLogReader files, @Nullable CheckedLog log, AnchorTrust trust)
            throws IOException {
        if (log == null) {
            return new AnchorCheck(trust, Anchors.none(), List.of());
        }
        var logged = new ArrayList<Logged>();
        for (CheckedLog.RunLeaf leaf : log.leaves()) {
            if (leaf instanceof CheckedLog.Logged at) {
                logged.add(new Logged(at.index(), at.checkpoint().size()));
            }
        }
        return new AnchorCheck(trust, Anchors.read(files, trust, log.checkpoint(), log::rootAt), logged);
    }

    /// Reports anchors that contradict the log, and stored ones that prove nothing.
    void check(Findings findings) {
        anchors.contradictions().forEach(what -> findings.tampered(-1, "log/anchors/" + what));
        anchors.remarks().forEach(what -> findings.note(-1, "log/anchors/" + what));
    }

    /// The ranges of the run's events that are vouched for.
    ///
    /// @param events how many of them an accepted checkpoint covers; the log may know of more
    List<AnchoredRange> ranges(long events) {
        return AnchoredRange.of(
                anchors.anchors(),
                logged.stream().filter(each -> each.events() <= events).toList());
    }

    /// Whether all of the run's events are vouched for; reports it if only the first ones are.
    Time time(List<AnchoredRange> ranges, long events, Findings findings) {
        long covered = AnchoredRange.coveredEvents(ranges);
        if (events > 0 && covered >= events) {
            return Time.ANCHORED;
        }
        if (events > covered && !trust.isEmpty()) {
            findings.note(
                    covered,
                    "from here on only the host's clock says when; no trusted outside party vouches for it yet");
        }
        return Time.HOST_CLOCK;
    }
}
