package blackbox.evidence.verify;

import blackbox.schemas.event.Finding;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import blackbox.schemas.view.Counts;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// What a run's rows say of what they lack (`schemas/events.md`, "What is missing"): losses that the recorder
/// declared, numbers that never came, and findings after which nobody can know. From the rows alone, so that
/// every recording gets the same answer from whoever reads it, however old it is. Owned by one thread.
///
/// The tracer's heartbeats bound what is known: each accounts for all numbers of its CPU before it. So a run
/// is known to its end only if the tracer's last heartbeat came from every CPU. After a finding that leaves
/// things unknown, the known part ends with the heartbeats before it: a later heartbeat says nothing about a
/// stream in which somebody else may have written. Only a silence ends by itself, with the next heartbeat of
/// every CPU.
public final class EventAccount {

    /// What [#see] looks at.
    public static final Set<Column> COLUMNS = Collections.unmodifiableSet(
            EnumSet.of(Column.KIND, Column.CPU, Column.CPU_SEQ, Column.WHAT, Column.DETAIL, Column.LOST));

    /// Names of what makes losses unknown that are no findings of the recorder.
    public static final String LOSS_UNDECLARED = "LOSS_UNDECLARED";

    private static final String LOSS_UNREADABLE = "LOSS_UNREADABLE";
    private static final String LOSS_BEYOND_COUNT = "LOSS_BEYOND_COUNT";
    private static final String EVENTS_MISSING = "EVENTS_MISSING";
    private static final String CPU_IMPOSSIBLE = "CPU_IMPOSSIBLE";
    private static final String PROBE_NOT_ATTACHED = "PROBE_NOT_ATTACHED";
    private static final String NOT_CLOSED = "NOT_CLOSED";
    private static final String OF_SEQUENCE = "sequence";

    private final SequenceCheck sequences = new SequenceCheck();
    private final NamedFindings found = new NamedFindings();
    private long declared;
    private long unknownFrom = Long.MAX_VALUE;
    private long silentAt = -1;
    private boolean unfinishedSaid;
    private long closedAt = -1;
    private long next;
    private boolean ofService;

    /// Takes the next row. A row whose index is not the next one shows that a reader was not given all.
    public void see(long index, Row row) {
        if (index != next) {
            found.add(next, EVENTS_MISSING, "events " + next + " to " + (index - 1) + " are not here");
            notKnownFrom(Math.min(next, accountedTo()));
        }
        next = index + 1;
        if (!SequenceCheck.isPossible(row)) {
            found.add(
                    index, CPU_IMPOSSIBLE, "an event is of a CPU that no guest has: nothing accounts for its numbers");
            notKnownFrom(accountedTo());
        }
        sequences.see(index, row);
        if (!row.has(Column.KIND)) {
            return;
        }
        long kind = row.number(Column.KIND);
        ofService &= isOfService(Kind.ofCode(kind));
        if (kind == Kind.RECORDER_LOSS.code()) {
            loss(index, row);
        } else if (kind == Kind.RECORDER_FINDING.code()) {
            finding(index, row);
        } else if (kind == Kind.RUN_CLOSE.code()) {
            closedAt = index;
        } else if (kind == Kind.RUN_OPEN.code() && index == 0 && row.has(Column.DETAIL)) {
            ofService = LeafDetail.isOfAccess(row.text(Column.DETAIL).toString());
        } else if (kind == Kind.TRACER_READY.code() && row.has(Column.DETAIL)) {
            probes(index, row.text(Column.DETAIL).toString());
        }
    }

    /// Whether a service's own record may have it.
    private static boolean isOfService(@Nullable Kind kind) {
        return switch (kind) {
            case RUN_OPEN,
                    RUN_CLOSE,
                    ACCESS_REQUEST,
                    ACCESS_ANSWER,
                    ACCESS_GRANTS,
                    RECORDER_HEARTBEAT,
                    RECORDER_FINDING,
                    RECORDER_LOSS -> true;
            case null, default -> false;
        };
    }

    private void probes(long index, String detail) {
        if (LeafDetail.hasElements(detail, "failed")) {
            found.add(index, PROBE_NOT_ATTACHED, "the guest's tracer could not attach all of its probes");
            notKnownFrom(index + 1);
        }
    }

    private void loss(long index, Row row) {
        long lost = row.has(Column.LOST) ? row.number(Column.LOST) : -1;
        if (lost < 0) {
            found.add(index, LOSS_UNREADABLE, "a loss was declared that does not say how much was lost");
            notKnownFrom(accountedTo());
            return;
        }
        declared = Counts.sum(declared, lost);
        if (Counts.isBeyondCount(declared)) {
            found.add(index, LOSS_BEYOND_COUNT, "more events are declared lost than can be counted");
            notKnownFrom(accountedTo());
        }
        if (row.has(Column.WHAT) && row.text(Column.WHAT).toString().equals(OF_SEQUENCE)) {
            declareNumbers(row, lost);
        }
    }

    private void declareNumbers(Row row, long lost) {
        Map<String, Long> detail = row.has(Column.DETAIL)
                ? LeafDetail.numbers(row.text(Column.DETAIL).toString())
                : Map.of();
        Long cpu = detail.get("cpu");
        Long from = detail.get("from");
        Long to = detail.get("to");
        if (cpu != null && from != null && to != null && from > 0 && from <= to && to - from == lost - 1) {
            sequences.declare(cpu, from, to);
        } else {
            sequences.declare(lost);
        }
    }

    private void finding(long index, Row row) {
        String name = row.has(Column.WHAT) ? row.text(Column.WHAT).toString() : "";
        Finding finding = Finding.ofName(name);
        found.add(index, name, finding);
        if (finding == Finding.GUEST_SILENT) {
            silentAt = index;
        } else if (finding == null || finding.leavesUnknown()) {
            notKnownFrom(accountedTo());
        }
        unfinishedSaid |= finding == Finding.TRACER_UNFINISHED;
    }

    private void notKnownFrom(long index) {
        unknownFrom = Math.min(unknownFrom, index);
    }

    /// What is lost, by the rows so far.
    ///
    /// @param live whether the recorder is alive, so that what is missing may still arrive
    public Losses losses(boolean live) {
        long from = unknownFrom;
        boolean soFar = closedAt < 0 && live && from == Long.MAX_VALUE && !isSilent();
        if (closedAt < 0 || isSilent() || !ended()) {
            from = Math.min(from, accountedTo());
        }
        if (closedAt < 0) {
            return new Losses(declared, from, soFar);
        }
        if (sequences.undeclared() > 0) {
            from = Math.min(from, sequences.undeclaredFrom());
        }
        return new Losses(
                Counts.sum(declared, sequences.undeclared()), from == Long.MAX_VALUE ? null : (Long) from, false);
    }

    /// How many events the rows so far declare lost, see [Losses#sum].
    public long declared() {
        return declared;
    }

    /// Whether the guest's tracer has accounted for all; a service has no guest.
    private boolean ended() {
        return sequences.ended() || hasNoGuest();
    }

    private long accountedTo() {
        return hasNoGuest() ? next : sequences.accountedTo();
    }

    private boolean hasNoGuest() {
        return ofService && sequences.isUnused();
    }

    /// Whether the tracer went quiet, and since then not every CPU has sent a heartbeat.
    private boolean isSilent() {
        return accountedTo() <= silentAt;
    }

    /// What was found in the order of the run, of each name the first few: the recorder's findings, and what
    /// only a reader of the whole run can see.
    List<Verification.Finding> findings() {
        var all = new ArrayList<>(found.all());
        if (closedAt >= 0 && sequences.undeclared() > 0) {
            all.add(new Verification.Finding(
                    sequences.undeclaredFrom(),
                    LOSS_UNDECLARED + ": the guest's sequence numbers show " + sequences.missing()
                            + " events missing, but only " + (sequences.missing() - sequences.undeclared())
                            + " are declared lost"));
        }
        if (closedAt >= 0 && !ended() && !unfinishedSaid) {
            all.add(new Verification.Finding(
                    closedAt,
                    Finding.TRACER_UNFINISHED
                            + ": the run was closed without the last heartbeat of the guest's tracer from each CPU"));
        }
        return all;
    }

    /// The names of what makes the losses unknown; empty where they are known.
    public List<String> unknownBecause() {
        var names = new ArrayList<>(found.unknown());
        if (!isSilent()) {
            names.remove(Finding.GUEST_SILENT.name());
        }
        if (sequences.undeclared() > 0) {
            names.add(LOSS_UNDECLARED);
        }
        if (!ended() && !unfinishedSaid) {
            names.add(Finding.TRACER_UNFINISHED.name());
        }
        if (closedAt < 0) {
            names.add(NOT_CLOSED);
        }
        return names;
    }
}
