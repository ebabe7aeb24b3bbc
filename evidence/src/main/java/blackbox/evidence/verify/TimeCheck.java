package blackbox.evidence.verify;

import blackbox.schemas.event.Source;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Checks that time goes on: heartbeats never go back, and what the host says that it saw lies within its epoch. The
/// guest's times are the guest's claims, so of them it only tells.
///
/// Runs from before there were epoch keys were recorded without these rules: there it tells too.
final class TimeCheck {

    /// How far an event of the host's may lie outside its epoch. The host stamps an event when it sees it and seals
    /// an epoch about every half second, but an event waits its turn in a queue that a flooding guest can fill, on
    /// a machine that may have to swap.
    static final Duration TOLERANCE = Duration.ofSeconds(60);

    /// A recorder seals at least once a second; this is late beyond doubt.
    static final Duration BEAT_MAX = Duration.ofSeconds(10);

    private final Findings findings;
    private long beatNs;
    private boolean beaten;
    private @Nullable Extreme earliest;
    private @Nullable Extreme latest;
    private @Nullable Extreme guestLatest;

    /// The event with the least or greatest time of an epoch.
    private record Extreme(long index, long atNs) {}

    /// @param startNs when the run was started: nothing is earlier
    TimeCheck(Findings findings, long startNs) {
        this.findings = findings;
        this.beatNs = startNs;
    }

    /// The same, to go on apart from this one.
    TimeCheck fork() {
        var fork = new TimeCheck(findings, beatNs);
        fork.beaten = beaten;
        return fork;
    }

    /// Takes an event that is no heartbeat.
    void see(long index, Row row) {
        if (!row.has(Column.AT_NS) || !row.has(Column.SOURCE)) {
            return;
        }
        long atNs = row.number(Column.AT_NS);
        if (row.number(Column.SOURCE) == Source.GUEST.code()) {
            guestLatest = guestLatest == null || atNs > guestLatest.atNs ? new Extreme(index, atNs) : guestLatest;
            return;
        }
        earliest = earliest == null || atNs < earliest.atNs ? new Extreme(index, atNs) : earliest;
        latest = latest == null || atNs > latest.atNs ? new Extreme(index, atNs) : latest;
    }

    /// Takes the heartbeat that ends the epoch.
    ///
    /// @param strict whether what does not fit is tampering, and not only to be told
    void beat(long index, long atNs, boolean strict) {
        if (atNs < beatNs && beaten) {
            report(index, strict, "the heartbeat's time lies before that of the heartbeat before it");
        } else if (beaten && atNs - beatNs > BEAT_MAX.toNanos()) {
            findings.note(index, "no heartbeat for " + (atNs - beatNs) / 1_000_000_000L + " s before this one");
        }
        Extreme early = earliest;
        if (early != null && early.atNs < beatNs - TOLERANCE.toNanos()) {
            report(early.index, strict, "the event is back-dated: its time lies before its epoch began");
        }
        Extreme late = latest;
        if (late != null && late.atNs > atNs + TOLERANCE.toNanos()) {
            report(late.index, strict, "the event's time lies after its epoch ended");
        }
        Extreme claimed = guestLatest;
        if (claimed != null && claimed.atNs > atNs + TOLERANCE.toNanos()) {
            findings.note(claimed.index, "the guest's time of the event lies after its epoch ended");
        }
        beatNs = Math.max(beatNs, atNs);
        beaten = true;
        earliest = null;
        latest = null;
        guestLatest = null;
    }

    private void report(long index, boolean strict, String what) {
        if (strict) {
            findings.tampered(index, what);
        } else {
            findings.note(index, what);
        }
    }
}
