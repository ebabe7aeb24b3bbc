package blackbox.evidence.anchor;

import blackbox.evidence.log.TrustPolicy;
import blackbox.evidence.time.TimeAuthorities;
import java.util.List;

/// Whose statements about time are trusted: witnesses in a quorum, and time-stamping authorities.
///
/// @param policy its witnesses and quorum; its logs are ignored, because whoever checks the log of
///     runs has already decided whose it is
public record AnchorTrust(TrustPolicy policy, TimeAuthorities authorities) {

    /// Whether nobody is trusted.
    public boolean isEmpty() {
        return policy.quorum().equals(TrustPolicy.NONE) && authorities.isEmpty();
    }

    /// Trusts nobody, so that nothing is anchored.
    public static AnchorTrust none() {
        return new AnchorTrust(TrustPolicy.of(List.of()), TimeAuthorities.of(List.of()));
    }
}
