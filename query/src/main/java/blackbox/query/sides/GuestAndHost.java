package blackbox.query.sides;

import blackbox.schemas.event.FindingDetail.SidesDiffer;
import java.util.List;

/// What a guest's kernel told of its network, against what left it.
///
/// @param compared whether there was something to compare: a gateway, and a tracer that tells of beginnings
/// @param connections of TCP that both told of
/// @param exchanges of datagrams that both told of, each question about a name counted
/// @param findings what does not fit together, as the recorder sealed it
/// @param limits what may be missing, in sentences
public record GuestAndHost(
        boolean compared, long connections, long exchanges, List<Sealed> findings, List<String> limits) {

    /// Of acts that are not compared by themselves.
    public static final GuestAndHost NOT_COMPARED = new GuestAndHost(false, 0, 0, List.of(), List.of());

    public GuestAndHost {
        findings = List.copyOf(findings);
        limits = List.copyOf(limits);
    }

    /// A finding in the record.
    ///
    /// @param index of its event
    public record Sealed(long index, SidesDiffer differs) {}
}
