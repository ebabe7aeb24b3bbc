package blackbox.recorder.anchor;

import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.log.TileHashes;
import blackbox.evidence.log.TilePath;
import blackbox.evidence.log.TreeProver;
import blackbox.evidence.log.TrustPolicy;
import blackbox.evidence.time.MalformedTimeStampException;
import blackbox.evidence.time.TimeToken;
import blackbox.evidence.time.TimeVerdict;
import blackbox.files.AtomicFiles;
import blackbox.files.ProcessLock;
import blackbox.recorder.RecorderException;
import blackbox.recorder.RecorderException.Code;
import blackbox.recorder.outbound.HttpPoster;
import blackbox.schemas.Hash;
import blackbox.schemas.folder.DataFolder;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// Has the log of runs in its present state anchored by outside parties, and stores their answers in
/// `<log>/anchors/` (`schemas/anchors.md`).
///
/// Asking again for a log that has not grown asks only those who have not answered yet. One process at a time
/// does this for a folder; safe to use from several threads.
public final class Anchoring {

    /// The folder of the anchors, below the log's.
    public static final String FOLDER = DataFolder.ANCHORS;

    private static final int NOTE_BYTES_MAX = 1 << 20;

    private final Path log;
    private final AnchorSettings settings;
    private final HttpPoster outside;
    private final RandomGenerator random;
    private final AtomicFiles files = AtomicFiles.onDisk();

    /// @param log the folder of the log of runs
    public Anchoring(Path log, AnchorSettings settings, HttpPoster outside, RandomGenerator random) {
        this.log = log;
        this.settings = settings;
        this.outside = outside;
        this.random = random;
    }

    /// The result of asking.
    public sealed interface Outcome {

        /// There is no log of runs yet, or no leaf in it.
        record Nothing() implements Outcome {}

        /// Another process is anchoring it.
        record Busy() implements Outcome {}

        /// Everyone who had not answered before was asked.
        ///
        /// @param quorum whether a quorum of witnesses has cosigned
        /// @param stamps the stored stamps, by the authority's address
        /// @param missing why a witness or authority has not answered, by name or address
        /// @param isComplete whether there are the quorum that the policy requires and a stamp of each
        ///     authority
        record Asked(
                Checkpoint checkpoint,
                List<TrustPolicy.Cosigned> cosigned,
                boolean quorum,
                Map<String, TimeVerdict.Stamped> stamps,
                Map<String, String> missing,
                boolean isComplete)
                implements Outcome {}
    }

    /// Asks. The stored answers show who is still to be asked; nothing else is remembered.
    ///
    /// @throws RecorderException `ANCHOR` when the log cannot be read, is not what its checkpoint says, or
    ///     what was obtained cannot be kept
    public Outcome run() throws RecorderException, InterruptedException {
        try {
            byte[] octets = files.read(log.resolve(TilePath.CHECKPOINT), NOTE_BYTES_MAX);
            if (octets == null) {
                return new Outcome.Nothing();
            }
            Files.createDirectories(log.resolve(FOLDER));
            try (ProcessLock lock = ProcessLock.tryTake(log.resolve(FOLDER).resolve("lock"))) {
                return lock == null ? new Outcome.Busy() : ask(octets);
            }
        } catch (IOException e) {
            throw new RecorderException(Code.ANCHOR, "cannot anchor the log of runs in " + log, e);
        }
    }

    private Outcome ask(byte[] octets) throws IOException, InterruptedException {
        SignedNote note = SignedNote.parse(octets);
        Checkpoint checkpoint = note == null ? null : Checkpoint.parse(note.text());
        if (note == null || checkpoint == null) {
            throw new IOException("its checkpoint file is not a checkpoint");
        }
        if (checkpoint.size() == 0) {
            return new Outcome.Nothing();
        }
        var prover = new TreeProver(new TileHashes(this::tile, checkpoint.size()));
        if (!prover.root(checkpoint.size()).equals(checkpoint.root())) {
            throw new IOException("its tiles are not the tree that its checkpoint signs");
        }
        var missing = new LinkedHashMap<String, String>();
        SignedNote anchored = witnesses(kept(note, checkpoint), checkpoint, prover, missing);
        Map<String, TimeVerdict.Stamped> stamps = stamps(checkpoint, missing);
        TrustPolicy.Judgement judgement = settings.policy().judge(anchored);
        boolean quorum = !settings.policy().quorum().equals(TrustPolicy.NONE) && judgement.quorum();
        boolean complete = (settings.policy().witnesses().isEmpty() || judgement.quorum())
                && stamps.size() == settings.authorities().size();
        return new Outcome.Asked(checkpoint, judgement.cosigned(), quorum, stamps, missing, complete);
    }

    /// What is stored for this checkpoint, or else its note from the log, which is then stored: a stamp is
    /// worthless without the text that it is over.
    private SignedNote kept(SignedNote note, Checkpoint checkpoint) throws IOException {
        Path file = anchor(checkpoint.size() + ".note");
        byte[] octets = files.read(file, NOTE_BYTES_MAX);
        SignedNote kept = octets == null ? null : SignedNote.parse(octets);
        if (kept != null && kept.text().equals(note.text())) {
            return kept;
        }
        if (octets != null) {
            throw new IOException(file + " already exists for another checkpoint; keep it, it may show what happened");
        }
        files.replace(file, note.encoded().getBytes(StandardCharsets.UTF_8));
        return note;
    }

    private SignedNote witnesses(SignedNote note, Checkpoint checkpoint, TreeProver prover, Map<String, String> missing)
            throws IOException, InterruptedException {
        TrustPolicy policy = settings.policy();
        if (policy.witnesses().isEmpty()
                || policy.judge(note).cosigned().size() == policy.witnesses().size()) {
            return note;
        }
        Witnesses.Outcome outcome = new Witnesses(outside, policy, settings.witnesses())
                .cosign(note, oldSize -> prover.consistency(oldSize, checkpoint.size()));
        if (!outcome.note().equals(note)) {
            files.replace(
                    anchor(checkpoint.size() + ".note"),
                    outcome.note().encoded().getBytes(StandardCharsets.UTF_8));
        }
        missing.putAll(outcome.missing());
        return outcome.note();
    }

    private Map<String, TimeVerdict.Stamped> stamps(Checkpoint checkpoint, Map<String, String> missing)
            throws IOException, InterruptedException {
        Hash imprint = Hash.sha256(checkpoint.text().getBytes(StandardCharsets.UTF_8));
        var client = new TimeStamps(outside, settings.trusted(), random);
        var stamps = new LinkedHashMap<String, TimeVerdict.Stamped>();
        int number = 0;
        for (URI address : settings.authorities()) {
            number++;
            Path file = anchor(checkpoint.size() + "-" + number + ".tsr");
            TimeVerdict.Stamped stamped = keptStamp(file, imprint);
            if (stamped == null) {
                switch (client.ask(address, imprint)) {
                    case TimeStamps.Outcome.Failed(String why) -> missing.put(address.toString(), why);
                    case TimeStamps.Outcome.Stamped(TimeToken token, TimeVerdict.Stamped verdict) -> {
                        files.replace(file, token.response());
                        stamped = verdict;
                    }
                }
            }
            if (stamped != null) {
                stamps.put(address.toString(), stamped);
            }
        }
        return stamps;
    }

    private TimeVerdict.@Nullable Stamped keptStamp(Path file, Hash imprint) throws IOException {
        byte[] octets = files.read(file, TimeToken.OCTETS_MAX);
        try {
            return octets != null
                            && settings.trusted().verify(TimeToken.ofResponse(octets), imprint)
                                    instanceof TimeVerdict.Stamped stamped
                    ? stamped
                    : null;
        } catch (MalformedTimeStampException e) {
            return null; // asked for again
        }
    }

    private byte @Nullable [] tile(TilePath tile) throws IOException {
        return files.read(log.resolve(tile.path()), TilePath.FULL * Hash.LENGTH);
    }

    private Path anchor(String name) {
        return log.resolve(FOLDER).resolve(name);
    }
}
