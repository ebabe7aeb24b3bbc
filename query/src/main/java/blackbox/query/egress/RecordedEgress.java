package blackbox.query.egress;

import blackbox.schemas.RunId;
import java.util.List;

/// What a run sent out, as far as its record knows.
///
/// @param gateway whether the egress gateway was its network
/// @param unkept how many events showed more than is listed here
/// @param attempts what that gateway refused
/// @param limits in words, what may not have been seen
public record RecordedEgress(
        RunId run,
        boolean gateway,
        long unkept,
        List<RecordedFlow> flows,
        List<RecordedFlow> attempts,
        List<RecordedName> names,
        List<String> limits) {
    public RecordedEgress {
        flows = List.copyOf(flows);
        attempts = List.copyOf(attempts);
        names = List.copyOf(names);
        limits = List.copyOf(limits);
    }
}
