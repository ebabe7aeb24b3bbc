package blackbox.evidence.proof;

import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.TrustPolicy;
import blackbox.evidence.time.TimeAuthorities;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/// Whom a verifier trusts. Immutable.
///
/// @param policy logs and witnesses; its log keys are trusted directly too
/// @param authorities whose time stamps count
public record ProofTrust(TrustPolicy policy, TimeAuthorities authorities) {

    /// The keys alone: no witness is required and no time authority known.
    public static ProofTrust of(Collection<? extends NoteVerifier> keys) {
        return new ProofTrust(TrustPolicy.of(keys), TimeAuthorities.of(List.of()));
    }

    /// The policy's logs and `keys`.
    public static ProofTrust of(
            TrustPolicy policy, Collection<? extends NoteVerifier> keys, TimeAuthorities authorities) {
        var all = new ArrayList<NoteVerifier>(policy.logs());
        keys.stream().filter(key -> !all.contains(key)).forEach(all::add);
        return new ProofTrust(policy.withLogs(all), authorities);
    }
}
