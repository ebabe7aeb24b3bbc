package blackbox.replay.kept;

import static blackbox.fuzz.FuzzTarget.ensure;

import blackbox.evidence.trust.ReplayNote.ReplayMethod;
import blackbox.fuzz.FuzzTarget;
import blackbox.replay.inputs.SealedStart;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// The description of a re-execution that is kept, as it is stored and comes with parcels.
public final class KeptExecutionTarget {
    /// The target.
    public static final FuzzTarget TARGET = FuzzTarget.of(
            "kept-execution",
            4 << 10,
            KeptExecutionTarget::decode,
            () -> Map.of("whole", whole().encode()),
            IOException.class);

    private KeptExecutionTarget() {}

    private static boolean decode(byte[] octets) throws IOException {
        KeptExecution execution = KeptExecution.decode(octets);
        byte[] again = execution.encode();
        ensure(
                Arrays.equals(KeptExecution.decode(again).encode(), again),
                "it says something else after it was written");
        return true;
    }

    private static KeptExecution whole() {
        Hash digest = Hash.sha256(new byte[1]);
        var captures = new TreeMap<String, KeptExecution.Content>();
        captures.put("frames-in", new KeptExecution.Content(5, digest));
        return new KeptExecution(
                new RunId("01kaj3v4e00000000000000001"),
                new SealedStart(
                        ReplayMethod.EXACT,
                        "base",
                        digest,
                        digest,
                        new SealedStart.Workspace(digest, 7),
                        new SealedStart.SealedQemu("10", digest),
                        List.of("true")),
                512,
                -1L,
                captures,
                new KeptExecution.Agreement(digest, 1, 2));
    }
}
