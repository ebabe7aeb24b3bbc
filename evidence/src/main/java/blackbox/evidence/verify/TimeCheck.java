package blackbox.evidence.verify;

import blackbox.schemas.event.Source;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// Checks that time advances: heartbeats never go back, and the host's events lie within their epochs. The
/// guest's times are only the guest's claims, so deviations of theirs are reported as notes.
///
/// Runs from before there were epoch keys were recorded without these rules: there, too, deviations are only
/// notes.
final class TimeCheck {

    /// How far a host event may lie outside its epoch. The host stamps an event when it sees it and seals an
    /// epoch about every half second, but events wait in a queue that a flooding guest can fill, on a machine
    /// that may be swapping.
    static final Duration TOLERANCE = Duration.ofSeconds(60);

    /// A recorder seals at least once a second; a gap of this length is late beyond doubt.
    static final Duration BEAT_MAX = Duration.ofSeconds(10);

    /// How long a run may say that it is quiet.
    private static final int IDLE_SECONDS_MAX = 3_600;

    private final Findings findings;
    private long beatNs;
    private boolean beaten;
    private Duration beatMax = BEAT_MAX;
    private Instant certified = Instant.EPOCH;
    private boolean behind;
    private @Nullable Extreme earliest;
    private @Nullable Extreme latest;
    private @Nullable Extreme guestLatest;

    /// The event with the earliest or latest time of an epoch.
    private record Extreme(long index, long atNs) {}

    /// @param startNs when the run was started: no event may be earlier
    TimeCheck(Findings findings, long startNs) {
        this.findings = findings;
        this.beatNs = startNs;
    }

    /// A copy, to be continued independently.
    TimeCheck fork() {
        var fork = new TimeCheck(findings, beatNs);
        fork.beaten = beaten;
        fork.beatMax = beatMax;
        fork.certified = certified;
        fork.behind = behind;
        return fork;
    }

    /// The run's first key was certified then, before its first event.
    void notBefore(Instant issued) {
        certified = issued;
    }

    /// The checkpoint over the heartbeat at `index` is in the log of runs, behind a leaf of the time `after`. A
    /// recorder that was stopped may also log its last checkpoint late.
    void followed(long index, long atNs, Instant after) {
        if (!behind && isBefore(atNs, after)) {
            behind = true;
            findings.note(
                    index,
                    "the host's clock had been set back, or this was logged late: the heartbeat is of " + instant(atNs)
                            + ", and the log of runs holds a leaf of " + after + " before its checkpoint");
        }
    }

    private void checkCertified(long index, long atNs) {
        if (!behind && isBefore(atNs, certified)) {
            behind = true;
            findings.note(
                    index,
                    "the host's clock had been set back: the event is of " + instant(atNs)
                            + ", and the run's first key was certified at " + certified);
        }
    }

    private static boolean isBefore(long atNs, Instant time) {
        return instant(atNs).isBefore(time.minus(TOLERANCE));
    }

    private static Instant instant(long atNs) {
        return Instant.ofEpochSecond(0, atNs);
    }

    /// Takes an event that is not a heartbeat.
    void see(long index, Row row) {
        if (!row.has(Column.AT_NS) || !row.has(Column.SOURCE)) {
            return;
        }
        long atNs = row.number(Column.AT_NS);
        if (index == 0 && row.has(Column.DETAIL)) {
            String detail = row.text(Column.DETAIL).toString();
            Long idle =
                    LeafDetail.isOfAccess(detail) ? LeafDetail.numbers(detail).get(LeafDetail.IDLE_SECONDS) : null;
            beatMax = idle == null ? BEAT_MAX : BEAT_MAX.plusSeconds(Math.clamp(idle, 0, IDLE_SECONDS_MAX));
        }
        if (row.number(Column.SOURCE) == Source.GUEST.code()) {
            guestLatest = guestLatest == null || atNs > guestLatest.atNs ? new Extreme(index, atNs) : guestLatest;
            return;
        }
        earliest = earliest == null || atNs < earliest.atNs ? new Extreme(index, atNs) : earliest;
        latest = latest == null || atNs > latest.atNs ? new Extreme(index, atNs) : latest;
    }

    /// Takes the heartbeat that ends the epoch.
    ///
    /// @param strict whether a deviation is tampering, and not only a note
    void beat(long index, long atNs, boolean strict) {
        if (atNs < beatNs && beaten) {
            report(index, strict, "the heartbeat's time is earlier than that of the heartbeat before it");
        } else if (beaten && atNs - beatNs > beatMax.toNanos()) {
            findings.note(index, "no heartbeat for " + (atNs - beatNs) / 1_000_000_000L + " s before this one");
        }
        Extreme early = earliest;
        if (early != null) {
            checkCertified(early.index, early.atNs);
        }
        checkCertified(index, atNs);
        if (early != null && early.atNs < beatNs - TOLERANCE.toNanos()) {
            report(early.index, strict, "the event is back-dated: its time is before its epoch began");
        }
        Extreme late = latest;
        if (late != null && late.atNs > atNs + TOLERANCE.toNanos()) {
            report(late.index, strict, "the event's time is after its epoch ended");
        }
        Extreme claimed = guestLatest;
        if (claimed != null && claimed.atNs > atNs + TOLERANCE.toNanos()) {
            findings.note(claimed.index, "the guest's time of the event is after its epoch ended");
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
