package blackbox.query.egress;

import blackbox.schemas.RunId;
import java.util.List;

/// What a run sent out, as far as its record knows.
///
/// @param limits in words, what may not have been seen
public record RecordedEgress(RunId run, List<RecordedFlow> flows, List<RecordedName> names, List<String> limits) {
    public RecordedEgress {
        flows = List.copyOf(flows);
        names = List.copyOf(names);
        limits = List.copyOf(limits);
    }
}
