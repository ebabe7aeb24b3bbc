package blackbox.replay.tier;

import blackbox.evidence.trust.ReplayNote.ReplayMethod;
import blackbox.replay.ReplayException;
import blackbox.replay.verdict.Refusal;
import blackbox.replay.verdict.Verdict;
import blackbox.schemas.Progress;
import java.util.List;
import java.util.Set;

/// One way to replay a run. An object may be used for several replays, one after the other. It has no way out
/// to any network, and it never writes to the recording.
public interface Replayer {

    /// The tier that it replays.
    ReplayMethod tier();

    /// The captured files that a replay reads; each is checked before it starts.
    Set<String> captures();

    /// This tier's own objections to a replay, before anything is started: above all, a command line that
    /// differs from the sealed one.
    List<Refusal> check(ReplayRequest request) throws ReplayException;

    /// Whether what it executes is kept, see [blackbox.replay.kept.KeptStore].
    default boolean keeps() {
        return false;
    }

    /// Replays and compares. When its thread is interrupted it ends what it has started and throws.
    ///
    /// @param progress receives lines for people: how far it is, and what is left
    /// @return what was found; a machine that fails or gets stuck is a verdict too (`ENGINE_FAILED`)
    /// @throws ReplayException when no verdict can be given, because of the host: `ENGINE`
    Verdict replay(ReplayRequest request, Progress progress) throws ReplayException, InterruptedException;
}
