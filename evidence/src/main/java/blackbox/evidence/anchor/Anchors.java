package blackbox.evidence.anchor;

import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.log.TrustPolicy;
import blackbox.evidence.store.TransparencyLogReader;
import blackbox.evidence.time.MalformedTimeStampException;
import blackbox.evidence.time.TimeToken;
import blackbox.evidence.time.TimeVerdict;
import blackbox.schemas.Hash;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/// The anchors of a log of runs, checked one by one.
///
/// @param anchors those that hold
/// @param contradictions what trusted parties vouch for but the log does not match: it was rewritten
/// @param remarks stored anchors that prove nothing, and why
public record Anchors(List<Anchor> anchors, List<String> contradictions, List<String> remarks) {

    public Anchors {
        anchors = List.copyOf(anchors);
        contradictions = List.copyOf(contradictions);
        remarks = List.copyOf(remarks);
    }

    /// No anchors.
    public static Anchors none() {
        return new Anchors(List.of(), List.of(), List.of());
    }

    /// Provides roots of the log that was checked.
    @FunctionalInterface
    public interface Roots {

        /// The root of the log's first `size` leaves; `size` is at most the log's.
        Hash at(long size) throws IOException;
    }

    /// Checks what is stored in `files` against the log that was checked.
    ///
    /// @param log the checked log's checkpoint
    public static Anchors read(TransparencyLogReader files, AnchorTrust trust, Checkpoint log, Roots roots)
            throws IOException {
        var pass = new Pass(trust, log, roots);
        for (TransparencyLogReader.AnchorFile file : files.anchorFiles()) {
            pass.read(file);
        }
        return new Anchors(pass.anchors, pass.contradictions, pass.remarks);
    }

    /// One reading.
    private static final class Pass {

        private final AnchorTrust trust;
        private final Checkpoint log;
        private final Roots roots;
        private final List<Anchor> anchors = new ArrayList<>();
        private final List<String> contradictions = new ArrayList<>();
        private final List<String> remarks = new ArrayList<>();

        Pass(AnchorTrust trust, Checkpoint log, Roots roots) {
            this.trust = trust;
            this.log = log;
            this.roots = roots;
        }

        void read(TransparencyLogReader.AnchorFile file) throws IOException {
            SignedNote note = SignedNote.parse(file.note());
            Checkpoint checkpoint = note == null ? null : Checkpoint.parse(note.text());
            if (note == null || checkpoint == null || !file.name().equals(checkpoint.size() + ".note")) {
                remarks.add(file.name() + " is not a checkpoint of the size in its name");
                return;
            }
            if (!checkpoint.origin().equals(log.origin())) {
                remarks.add(file.name() + " is a checkpoint of another log, " + checkpoint.origin());
                return;
            }
            var found = new ArrayList<Anchor>();
            witnesses(file.name(), note, checkpoint, found);
            for (TransparencyLogReader.StampFile stamp : file.stamps()) {
                stamp(stamp, checkpoint, found);
            }
            if (!found.isEmpty()) {
                accept(file.name(), checkpoint, found);
            }
        }

        /// The state that is vouched for must be one of the log that was checked.
        private void accept(String name, Checkpoint checkpoint, List<Anchor> found) throws IOException {
            if (checkpoint.size() > log.size()) {
                contradictions.add(name + ": the log has " + log.size() + " leaves, but an outside party vouches for "
                        + checkpoint.size() + ": it was rolled back");
            } else if (!roots.at(checkpoint.size()).equals(checkpoint.root())) {
                contradictions.add(
                        name + ": an outside party vouches for a different history of the log: a different root for "
                                + checkpoint.size() + " leaves");
            } else {
                anchors.addAll(found);
            }
        }

        private void witnesses(String name, SignedNote note, Checkpoint checkpoint, List<Anchor> found) {
            TrustPolicy policy = trust.policy();
            if (policy.quorum().equals(TrustPolicy.NONE)) {
                return;
            }
            // A cosignature of time 0 says nothing about time (C2SP tlog-cosignature).
            List<TrustPolicy.Cosigned> cosigned = policy.judge(note).cosigned().stream()
                    .filter(each -> each.epochSeconds() > 0)
                    .toList();
            var names = new ArrayList<String>();
            for (TrustPolicy.Cosigned each : byTime(cosigned)) {
                names.add(each.witness());
                if (policy.isQuorum(names)) {
                    Instant time = Instant.ofEpochSecond(each.epochSeconds());
                    found.add(new Anchor(Anchor.Kind.WITNESS, checkpoint, time, names));
                    return;
                }
            }
            remarks.add(name + ": no quorum of witnesses has cosigned it, only " + names);
        }

        private static List<TrustPolicy.Cosigned> byTime(List<TrustPolicy.Cosigned> cosigned) {
            return cosigned.stream()
                    .sorted(Comparator.comparingLong(TrustPolicy.Cosigned::epochSeconds))
                    .toList();
        }

        private void stamp(TransparencyLogReader.StampFile file, Checkpoint checkpoint, List<Anchor> found)
                throws IOException {
            Hash imprint = Hash.sha256(checkpoint.text().getBytes(StandardCharsets.UTF_8));
            try {
                TimeToken token = TimeToken.ofResponse(file.octets());
                switch (trust.authorities().verify(token, imprint)) {
                    case TimeVerdict.Stamped stamped ->
                        found.add(new Anchor(
                                Anchor.Kind.RFC3161, checkpoint, stamped.notLaterThan(), List.of(stamped.authority())));
                    case TimeVerdict.Refused(String why) -> remarks.add(file.name() + ": " + why);
                }
            } catch (MalformedTimeStampException e) {
                remarks.add(file.name() + ": " + e.getMessage());
            }
        }
    }
}
