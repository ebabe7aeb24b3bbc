package blackbox.evidence.log;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Which logs are trusted, and how many of which witnesses must have cosigned (C2SP tlog-policy). Immutable.
///
/// `quorum` names a witness, a group, or [#NONE]. Groups are in the order of their definition, so each one's
/// members are known before it.
public record TrustPolicy(
        List<NoteVerifier> logs, Map<String, NoteVerifier> witnesses, Map<String, Group> groups, String quorum) {

    /// The quorum that requires no witness.
    public static final String NONE = "none";

    /// Witnesses and groups of which at least `threshold` must have witnessed.
    public record Group(int threshold, List<String> members) {
        public Group {
            members = List.copyOf(members);
            if (threshold < 1 || threshold > members.size()) {
                throw new IllegalArgumentException(
                        "a group of " + members.size() + " members cannot need " + threshold);
            }
        }
    }

    /// A cosignature that verified: the witness's name in the policy, and the time it states (0: none).
    public record Cosigned(String witness, long epochSeconds) {}

    /// The policy's judgement of one checkpoint: the log key that signed it, or null; the witnesses that
    /// cosigned it; and whether these form a quorum.
    public record Judgement(@Nullable NoteVerifier log, List<Cosigned> cosigned, boolean quorum) {

        /// Whether the checkpoint is valid under the policy.
        public boolean satisfied() {
            return log != null && quorum;
        }
    }

    public TrustPolicy {
        logs = List.copyOf(logs);
        witnesses = new LinkedHashMap<>(witnesses);
        groups = new LinkedHashMap<>(groups);
    }

    /// The policy that trusts these logs and requires no witness.
    public static TrustPolicy of(Collection<? extends NoteVerifier> logs) {
        return new TrustPolicy(List.copyOf(logs), Map.of(), Map.of(), NONE);
    }

    /// This policy with other keys for its logs, such as those established by key statements.
    public TrustPolicy withLogs(Collection<? extends NoteVerifier> others) {
        return new TrustPolicy(List.copyOf(others), witnesses, groups, quorum);
    }

    /// Reads a policy's text.
    ///
    /// @throws IllegalArgumentException when it is not a policy, with the line and the reason
    public static TrustPolicy parse(String text, TrustPolicyReader.Keys keys) {
        return new TrustPolicyReader(keys).read(text);
    }

    /// Judges a checkpoint's note. A line of a known key that does not verify invalidates the whole note.
    public Judgement judge(SignedNote note) {
        var known = new ArrayList<NoteVerifier>(logs);
        known.addAll(witnesses.values());
        Set<NoteVerifier> signers = new LinkedHashSet<>(note.signers(known));
        Checkpoint checkpoint = Checkpoint.parse(note.text());
        if (checkpoint == null) {
            return new Judgement(null, List.of(), false);
        }
        NoteVerifier log = null;
        for (NoteVerifier candidate : logs) {
            if (log == null && signers.contains(candidate) && candidate.name().equals(checkpoint.origin())) {
                log = candidate;
            }
        }
        var cosigned = new ArrayList<Cosigned>();
        var witnessed = new LinkedHashSet<String>();
        witnesses.forEach((name, witness) -> {
            if (signers.contains(witness)) {
                cosigned.add(new Cosigned(name, time(note, witness)));
                witnessed.add(name);
            }
        });
        return new Judgement(log, List.copyOf(cosigned), isQuorum(witnessed));
    }

    /// Whether these witnesses, by their names here, form a quorum.
    public boolean isQuorum(Collection<String> cosigners) {
        var witnessed = new LinkedHashSet<>(cosigners);
        groups.forEach((name, group) -> {
            if (group.members().stream().filter(witnessed::contains).count() >= group.threshold()) {
                witnessed.add(name);
            }
        });
        return quorum.equals(NONE) || witnessed.contains(quorum);
    }

    /// The time in a cosignature that has verified, so that it is long enough to hold one.
    private static long time(SignedNote note, NoteVerifier witness) {
        for (SignedNote.Signature line : note.signatures()) {
            if (line.isOf(witness.name(), witness.keyId())) {
                return ByteBuffer.wrap(Arrays.copyOf(line.octets(), Long.BYTES)).getLong();
            }
        }
        throw new IllegalStateException("no line of a witness that has signed");
    }

    /// The policy as text, without addresses and comments.
    public String text() {
        var text = new StringBuilder();
        logs.forEach(log -> text.append("log ").append(log.encoded()).append('\n'));
        witnesses.forEach((name, witness) -> text.append("witness ")
                .append(name)
                .append(' ')
                .append(witness.encoded())
                .append('\n'));
        groups.forEach((name, group) -> text.append("group ")
                .append(name)
                .append(' ')
                .append(group.threshold())
                .append(' ')
                .append(String.join(" ", group.members()))
                .append('\n'));
        return text.append("quorum ").append(quorum).append('\n').toString();
    }
}
