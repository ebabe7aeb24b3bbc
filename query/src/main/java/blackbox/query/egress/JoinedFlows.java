package blackbox.query.egress;

import blackbox.schemas.view.Counts;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Flows, those of one program with one peer as one.
final class JoinedFlows {

    private final Map<RecordedFlow.Peer, Map<String, RecordedFlow>> joined = new LinkedHashMap<>();

    void add(RecordedFlow.Peer peer, @Nullable String exe, long index, long count, long bytesOut, long bytesIn) {
        joined.computeIfAbsent(peer, _ -> new LinkedHashMap<>())
                .merge(
                        String.valueOf(exe),
                        new RecordedFlow(peer, exe, index, count, bytesOut, bytesIn),
                        (one, other) -> new RecordedFlow(
                                peer,
                                exe,
                                Math.min(one.index(), other.index()),
                                Counts.sum(one.count(), other.count()),
                                Counts.sum(one.bytesOut(), other.bytesOut()),
                                Counts.sum(one.bytesIn(), other.bytesIn())));
    }

    List<RecordedFlow> all() {
        return joined.values().stream()
                .flatMap(byProgram -> byProgram.values().stream())
                .toList();
    }
}
