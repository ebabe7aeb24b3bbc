package blackbox.query.why;

import blackbox.evidence.verify.EventAccount;
import blackbox.evidence.verify.Losses;
import blackbox.query.run.RunFacts;
import blackbox.query.run.RunState;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.RecorderView;
import blackbox.schemas.view.RunView;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;

/// What takes away from the certainty of a tie: what was lost, and how far the clocks agree. Owned by one
/// thread.
final class Certainty {

    /// A loss is declared when it is noticed, by the next heartbeat at the latest.
    private static final long NOTICED_NS_MAX = 2_000_000_000;

    private static final int LOSSES_MAX = 10_000;

    private final EventAccount account = new EventAccount();
    private final NavigableSet<Long> lostNs = new TreeSet<>();
    private boolean manyLost;
    private Tolerance tolerance = Tolerance.STEADY;
    private long worstNs;
    private long lastNs;
    private Losses losses = Losses.NOT_KNOWN;

    void see(EventView event, long index) {
        account.see(index, event.row());
        lastNs = Math.max(lastNs, event.atNs());
        if (event instanceof RecorderView.Loss) {
            manyLost |= lostNs.size() >= LOSSES_MAX;
            if (!manyLost) {
                lostNs.add(event.atNs());
            }
        } else if (event instanceof RunView.Close close) {
            JsonNode clock = RunFacts.detailOf(close.row()).path("clock");
            if (clock.has("offsetP99Ns")) {
                worstNs = clock.path("offsetMaxNs").asLong();
                tolerance = Tolerance.ofDrift(clock.path("offsetP99Ns").asLong(), worstNs);
            }
        }
    }

    /// To be called once, after all events.
    void end(RunFacts facts) {
        losses = account.losses(facts.state() == RunState.OPEN);
    }

    /// By how much the guest's times may be off.
    Tolerance tolerance() {
        return tolerance;
    }

    /// When the last event was.
    long lastNs() {
        return lastNs;
    }

    /// Why nothing that is tied to this tool use is beyond doubt, in clauses.
    ///
    /// @param index of the event that is tied to it
    List<String> doubts(ToolUse tool, long index) {
        var doubts = new ArrayList<String>();
        if (tool.root != null && !tool.rootAsked) {
            doubts.add("the process that asked is known by its peer or by its parent only");
        }
        if (tool.repeated) {
            doubts.add("several tool uses have its id");
        }
        if (tool.window.end() == Window.End.NO_RESULT) {
            doubts.add("no request brought its result, so its end is not known");
        }
        if (tool.wanted.cut()) {
            doubts.add("its arguments are not whole in the record");
        }
        Long unknownFrom = losses.unknownFrom();
        if (unknownFrom != null && index >= unknownFrom) {
            doubts.add("from event " + unknownFrom + " on, events may be missing that nothing counts");
        }
        long from = tool.window.fromNs() - tolerance.earlyNs();
        long to = tool.window.toNs() + NOTICED_NS_MAX;
        Long lost = lostNs.ceiling(from);
        if (manyLost || lost != null && lost <= to) {
            doubts.add("events were lost while it was being used");
        }
        return doubts;
    }

    /// What may be missing, in sentences.
    List<String> limits() {
        var limits = new ArrayList<String>();
        if (!losses.areNone()) {
            limits.add("events of the run: " + losses.inWords());
        }
        if (!tolerance.equals(Tolerance.STEADY)) {
            limits.add("the guest counts instructions, and its clock was up to " + milliseconds(worstNs)
                    + " ms off the host's: what it did up to " + milliseconds(tolerance.earlyNs())
                    + " ms before a tool was asked for, or " + milliseconds(tolerance.lateNs())
                    + " ms after its result was brought, counts as done meanwhile");
        }
        return limits;
    }

    private static long milliseconds(long ns) {
        return Math.ceilDiv(Math.abs(Math.max(ns, -Long.MAX_VALUE)), 1_000_000L);
    }
}
