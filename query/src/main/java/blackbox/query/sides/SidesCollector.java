package blackbox.query.sides;

import blackbox.evidence.sides.Reconciler;
import blackbox.schemas.event.FindingDetail.SidesDiffer;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.RecorderView;
import blackbox.schemas.view.RunView;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Gathers what a recorder found about guest and host, and finds it again from the same events: who reads need not
/// believe who recorded. Owned by one thread.
public final class SidesCollector {

    private static final int KEPT_MAX = 10_000;

    private final Reconciler again = new Reconciler();
    private final List<GuestAndHost.Sealed> sealed = new ArrayList<>();

    /// How much oftener each was sealed than found again.
    private final Map<SidesDiffer, Integer> surplus = new HashMap<>();

    private boolean behindGateway;
    private long unkept;

    /// Takes the next event of the run.
    public void see(EventView event, long index) {
        if (event instanceof RunView.Close) {
            again.finish().forEach(differs -> count(differs, -1));
        }
        again.see(index, event).forEach(differs -> count(differs, -1));
        if (event instanceof RunView.Policy) {
            behindGateway = true;
        }
        if (event instanceof RecorderView.Noticed noticed && noticed.known() instanceof SidesDiffer differs) {
            count(differs, 1);
            if (sealed.size() < KEPT_MAX) {
                sealed.add(new GuestAndHost.Sealed(index, differs));
            } else {
                unkept++;
            }
        }
    }

    private void count(SidesDiffer differs, int more) {
        if (surplus.size() < KEPT_MAX || surplus.containsKey(differs)) {
            surplus.merge(differs, more, Integer::sum);
        }
    }

    /// What was gathered.
    ///
    /// @param ended whether the run's close was there, so that all was judged
    public GuestAndHost result(boolean ended) {
        var limits = new ArrayList<String>();
        if (behindGateway && !again.compares()) {
            limits.add("what left the guest was not compared with what its processes began: its tracer did not tell of"
                    + " connections before they were sent");
        }
        long more = surplus.values().stream().filter(each -> each > 0).count();
        long fewer = surplus.values().stream().filter(each -> each < 0).count();
        if (more > 0 || ended && fewer > 0) {
            limits.add("what the recorder found about guest and host does not follow from its events in this version's"
                    + " reading: " + more + " findings are not found again, " + fewer + " are missing");
        }
        if (unkept > 0) {
            limits.add("only the first " + KEPT_MAX + " findings about guest and host are listed; there are " + unkept
                    + " more");
        }
        Reconciler.Agreed agreed = again.agreed();
        return new GuestAndHost(again.compares(), agreed.connections(), agreed.exchanges(), sealed, limits);
    }
}
