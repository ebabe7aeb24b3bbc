package blackbox.evidence.verify;

import blackbox.schemas.event.Kind;
import blackbox.schemas.event.Source;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Reads a run's rows for what they say of its control, see [ControlFacts]. Owned by one thread.
public final class ControlAccount {

    /// What [#see] looks at.
    public static final Set<Column> COLUMNS = Collections.unmodifiableSet(
            EnumSet.of(Column.KIND, Column.AT_NS, Column.SOURCE, Column.WHAT, Column.DETAIL));

    private static final int COMMANDS_MAX = 100;
    private static final String DONE = "done";

    private final List<ControlFacts.Command> commands = new ArrayList<>();
    private long furtherCommands;
    private long probes;
    private long failed;
    /// When a probe or a command came through last; 0 before the first.
    private long lastNs;

    /// When the host said something last, while the agent was there. How a run ended, and how long that took, does not
    /// count.
    private long agentSeenNs;

    private long longestGapNs;
    private boolean agentStarted;
    private boolean agentEnded;
    private boolean beforeAgent;
    /// Index of the command since which the guest is to stand still; -1 while it may run.
    private long pausedAt = -1;

    private long whilePaused;
    private long firstWhilePaused = -1;

    /// Takes the next row.
    public void see(long index, Row row) {
        if (pausedAt >= 0 && row.has(Column.SOURCE) && row.number(Column.SOURCE) == Source.GUEST.code()) {
            firstWhilePaused = whilePaused == 0 ? index : firstWhilePaused;
            whilePaused++;
        }
        if (!agentEnded && row.has(Column.SOURCE) && row.number(Column.SOURCE) == Source.HOST.code()) {
            agentSeenNs = Math.max(agentSeenNs, at(row));
        }
        if (!row.has(Column.KIND)) {
            return;
        }
        long kind = row.number(Column.KIND);
        if (kind == Kind.CONTROL_PROBE.code()) {
            probe(row);
        } else if (kind == Kind.CONTROL_COMMAND.code()) {
            command(index, row);
        } else if (kind == Kind.AGENT_START.code()) {
            agentStarted = true;
        } else if (kind == Kind.AGENT_EXIT.code()) {
            agentEnded = true;
        }
    }

    private void probe(Row row) {
        if (agentEnded) {
            return;
        }
        probes++;
        String detail = text(row, Column.DETAIL);
        if ("failed".equals(text(row, Column.WHAT)) || detail == null || LeafDetail.text(detail, "why") != null) {
            failed++;
            return;
        }
        beforeAgent |= !agentStarted;
        cameThrough(at(row));
    }

    private void cameThrough(long nowNs) {
        longestGapNs = gapTo(nowNs);
        lastNs = nowNs;
    }

    private long gapTo(long nowNs) {
        return lastNs == 0 ? longestGapNs : Math.max(longestGapNs, nowNs - lastNs);
    }

    private void command(long index, Row row) {
        String what = String.valueOf(text(row, Column.WHAT));
        String detail = String.valueOf(text(row, Column.DETAIL));
        String outcome = LeafDetail.text(detail, "outcome");
        if (DONE.equals(outcome)) {
            // What had not been read by then comes later, and is no contradiction.
            pausedAt = !what.equals("resume") && LeafDetail.isTrue(detail, "drained") ? index : -1;
            if (!agentEnded) {
                cameThrough(at(row));
            }
            agentEnded |= what.equals("kill");
        }
        if (commands.size() == COMMANDS_MAX) {
            furtherCommands++;
            return;
        }
        commands.add(new ControlFacts.Command(
                index,
                at(row),
                what,
                outcome,
                LeafDetail.text(detail, "user"),
                LeafDetail.text(detail, "via"),
                LeafDetail.text(detail, "subject"),
                LeafDetail.text(detail, "reason")));
    }

    private static long at(Row row) {
        return row.has(Column.AT_NS) ? row.number(Column.AT_NS) : 0;
    }

    private static @Nullable String text(Row row, Column column) {
        return row.has(column) ? row.text(column).toString() : null;
    }

    /// What the rows so far say; null if they say nothing of it, as those of older recorders.
    public @Nullable ControlFacts facts() {
        return probes == 0 && commands.isEmpty()
                ? null
                : new ControlFacts(
                        probes, failed, gapTo(agentSeenNs), beforeAgent, commands, furtherCommands, whilePaused);
    }

    /// What contradicts the record of a pause, or null.
    Verification.@Nullable Finding finding() {
        return whilePaused == 0
                ? null
                : new Verification.Finding(
                        firstWhilePaused,
                        "GUEST_WHILE_PAUSED: the guest was to stand still, but the record has " + whilePaused
                                + " events of it, of which this is the first");
    }
}
