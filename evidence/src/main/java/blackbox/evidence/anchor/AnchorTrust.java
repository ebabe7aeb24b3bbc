package blackbox.evidence.anchor;

import blackbox.evidence.log.TrustPolicy;
import blackbox.evidence.time.TimeAuthorities;
import java.util.List;

/// Whose word on time is taken: witnesses in a quorum, and time-stamping authorities.
///
/// @param policy its witnesses and quorum; its logs are not looked at, because whoever checks the log of
///     runs has already decided whose it is
public record AnchorTrust(TrustPolicy policy, TimeAuthorities authorities) {

    /// Whether nobody's word is taken.
    public boolean isEmpty() {
        return policy.quorum().equals(TrustPolicy.NONE) && authorities.isEmpty();
    }

    /// Trusts nobody, so that nothing is anchored.
    public static AnchorTrust none() {
        return new AnchorTrust(TrustPolicy.of(List.of()), TimeAuthorities.of(List.of()));
    }
}
