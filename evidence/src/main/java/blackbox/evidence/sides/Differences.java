package blackbox.evidence.sides;

import blackbox.schemas.event.Finding;
import blackbox.schemas.event.FindingDetail.SidesDiffer;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// What was found and is not handed on yet. Of each finding the first [#TOLD_MAX] are told, then each whose number is
/// a power of two, so that a guest cannot fill its record with them.
final class Differences {

    static final long TOLD_MAX = 1_000;

    private final Map<Finding, Long> counts = new EnumMap<>(Finding.class);
    private List<SidesDiffer> waiting = new ArrayList<>();

    void add(
            Finding finding,
            Ends ends,
            @Nullable String host,
            @Nullable String said,
            @Nullable Long guestEvent,
            @Nullable Long hostEvent,
            @Nullable String unknown) {
        add(new SidesDiffer(
                finding,
                ends.protocol(),
                ends.localText(),
                ends.remoteText(),
                host,
                said,
                guestEvent,
                hostEvent,
                unknown,
                0));
    }

    /// @param differs whose count is not known yet
    void add(SidesDiffer differs) {
        long count = counts.merge(differs.finding(), 1L, Long::sum);
        if (count <= TOLD_MAX || Long.bitCount(count) == 1) {
            waiting.add(new SidesDiffer(
                    differs.finding(),
                    differs.protocol(),
                    differs.local(),
                    differs.remote(),
                    differs.host(),
                    differs.said(),
                    differs.guestEvent(),
                    differs.hostEvent(),
                    differs.unknown(),
                    count));
        }
    }

    /// How many there were of a finding.
    long count(Finding finding) {
        return counts.getOrDefault(finding, 0L);
    }

    List<SidesDiffer> take() {
        if (waiting.isEmpty()) {
            return List.of();
        }
        List<SidesDiffer> all = waiting;
        waiting = new ArrayList<>();
        return all;
    }
}
