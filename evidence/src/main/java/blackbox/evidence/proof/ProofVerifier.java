package blackbox.evidence.proof;

import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.LogProof;
import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.log.TreeHasher;
import blackbox.evidence.log.TrustPolicy;
import blackbox.evidence.log.TrustPolicy.Cosigned;
import blackbox.evidence.log.TrustPolicy.Judgement;
import blackbox.evidence.proof.EventProof.LoggedNote;
import blackbox.evidence.proof.EventProof.ProvenLeaf;
import blackbox.evidence.time.MalformedTimeStampException;
import blackbox.evidence.time.TimeToken;
import blackbox.evidence.time.TimeVerdict;
import blackbox.evidence.trust.KeyHistory;
import blackbox.evidence.trust.KeyStatement;
import blackbox.evidence.verify.Verification;
import blackbox.evidence.verify.Verification.Authorship;
import blackbox.evidence.verify.Verification.Completeness;
import blackbox.evidence.verify.Verification.Finding;
import blackbox.evidence.verify.Verification.Integrity;
import blackbox.evidence.verify.Verification.Time;
import blackbox.schemas.Hash;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.LeafCodec;
import blackbox.schemas.row.Row;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Checks a proof of an event, given only its octets and whom to trust. Fails closed: what cannot be read or
/// does not match makes the event TAMPERED. Used once.
public final class ProofVerifier {

    /// The name of keys that seal files and sign no checkpoint.
    private static final String INGEST = "blackbox/ingest";

    private final ProofTrust trust;
    private final TreeHasher hasher = new TreeHasher();
    private final List<Finding> findings = new ArrayList<>();
    private final List<String> limits = new ArrayList<>();
    private final Set<String> signers = new LinkedHashSet<>();
    private final List<String> stamped = new ArrayList<>();
    private List<Cosigned> cosigned = List.of();
    private boolean tampered;
    private boolean trusted;
    private boolean witnessed;
    private long index = -1;

    private ProofVerifier(ProofTrust trust) {
        this.trust = trust;
    }

    /// Checks a proof.
    public static ProofVerdict verify(byte[] octets, ProofTrust trust) {
        return new ProofVerifier(trust).verify(octets);
    }

    private ProofVerdict verify(byte[] octets) {
        EventProof proof;
        try {
            proof = ProofJson.parse(octets);
        } catch (MalformedProofException e) {
            tampered("the proof is malformed: " + e.getMessage());
            return verdict(null, null, null);
        }
        return verify(proof);
    }

    private ProofVerdict verify(EventProof proof) {
        index = proof.index();
        Checkpoint run = provenEvent(proof);
        boolean direct = run != null && signedRun(proof);
        LogProof inLog = proof.inLog();
        Checkpoint log = run == null || inLog == null ? null : provenInLog(proof, inLog);
        if (inLog != null && log != null) {
            judge(proof, inLog, log);
        } else if (inLog == null && !direct && !tampered) {
            note(
                    "the log of runs does not contain the run's checkpoint yet: it is signed by a key that only the run itself names,"
                            + " and no long-term key vouches for it");
        } else if (inLog == null && direct) {
            limits.add(
                    "no log of runs contains the run's checkpoint, so no witness or time authority can have seen it");
        }
        trusted |= direct && inLog == null;
        limits.add("the proof is about one event; what else the run has, or lacks, it does not show: verify the run");
        boolean whole = log != null || direct && inLog == null;
        return verdict(proof, run, log, whole);
    }

    private @Nullable Checkpoint provenEvent(EventProof proof) {
        Checkpoint run = proof.event().inRun().proven(hasher.leaf(proof.event().leaf()));
        if (run == null) {
            tampered("the event's leaf does not lead to the root of the run's checkpoint");
        } else if (!run.origin().equals(proof.run().origin())) {
            tampered("the checkpoint is of another log, " + run.origin());
        } else if (proof.event().inRun().index() != proof.index()) {
            tampered("the leaf is event " + proof.event().inRun().index() + " of the run, not " + proof.index());
        } else {
            return run;
        }
        return null;
    }

    /// Checks who signed the run's checkpoint; true if a directly trusted key did.
    private boolean signedRun(EventProof proof) {
        SignedNote note = proof.event().inRun().note();
        List<NoteVerifier> recorders = trust.policy().logs().stream()
                .filter(key -> !key.name().equals(INGEST))
                .toList();
        ProvenLeaf signer = proof.signer();
        if (signer == null) {
            List<NoteVerifier> direct = note.signers(recorders);
            direct.forEach(key -> signers.add(key.encoded()));
            if (direct.isEmpty()) {
                tampered("the run's checkpoint is not signed by a trusted key, and no leaf names another key");
            }
            return !direct.isEmpty();
        }
        Checkpoint same = signer.inRun().proven(hasher.leaf(signer.leaf()));
        boolean proven = same != null && signer.inRun().note().equals(note);
        NoteVerifier key = proven ? SignerLeaf.key(signer.leaf(), proof.run()) : null;
        if (key == null) {
            tampered("the leaf that should name the checkpoint's key is not in the run's tree, or names none");
        } else if (note.signers(List.of(key)).isEmpty()) {
            tampered("the run's checkpoint is not signed by the key that its run names");
        }
        return false;
    }

    private @Nullable Checkpoint provenInLog(EventProof proof, LogProof inLog) {
        byte[] leaf = proof.event().inRun().note().encoded().getBytes(StandardCharsets.UTF_8);
        Checkpoint log = inLog.proven(hasher.leaf(leaf));
        if (log == null) {
            tampered("the run's checkpoint does not lead to the root of the log's checkpoint");
        }
        return log;
    }

    /// Checks who signed and who saw the log's checkpoint, and when.
    private void judge(EventProof proof, LogProof inLog, Checkpoint log) {
        TrustPolicy policy = trust.policy().withLogs(logKeys(proof, inLog, log));
        Judgement judgement = policy.judge(inLog.note());
        NoteVerifier signer = judgement.log();
        if (signer == null) {
            inLog.note().signatures().forEach(line -> signers.add(line.name() + String.format("+%08x", line.keyId())));
            tampered("the checkpoint of the log of runs is not signed by a trusted key");
            return;
        }
        signers.add(signer.encoded());
        cosigned = judgement.cosigned();
        witnessed = judgement.quorum() && !cosigned.isEmpty();
        trusted = judgement.quorum() && !tampered;
        if (!judgement.quorum()) {
            note("the log's checkpoint lacks the witnesses that the trust policy requires (" + policy.quorum()
                    + "); it has " + cosigned.size());
        }
        Hash text = Hash.sha256(inLog.note().text().getBytes(StandardCharsets.UTF_8));
        proof.timeTokens().forEach(token -> stamp(token, text));
    }

    /// The keys that may sign a checkpoint of the log: those established by its statements from a trusted
    /// key, or without statements the trusted keys themselves.
    private List<NoteVerifier> logKeys(EventProof proof, LogProof inLog, Checkpoint log) {
        if (proof.statements().isEmpty()) {
            return trust.policy().logs();
        }
        var history = new KeyHistory(trust.policy().logs());
        long before = -1;
        for (LoggedNote statement : proof.statements()) {
            String text = statement.note().encoded();
            Checkpoint same = statement.inLog().proven(hasher.leaf(text.getBytes(StandardCharsets.UTF_8)));
            boolean there = log.equals(same) && statement.inLog().note().equals(inLog.note());
            if (!there || statement.inLog().index() <= before) {
                tampered("a key statement is not in the log, or out of its order");
                return List.of();
            }
            before = statement.inLog().index();
            String fault = history.add(before, statement.note());
            if (fault != null) {
                tampered("the key statement at " + before + " of the log does not hold: " + fault);
                return List.of();
            }
        }
        return history.believed(KeyStatement.Role.LOG, log.size());
    }

    private void stamp(byte[] token, Hash text) {
        try {
            switch (trust.authorities().verify(TimeToken.ofResponse(token), text)) {
                case TimeVerdict.Stamped stamp -> stamped.add(stamp.notLaterThan() + " " + stamp.authority());
                case TimeVerdict.Refused refused -> note("a time stamp is not accepted: " + refused.why());
            }
        } catch (MalformedTimeStampException e) {
            note("a time stamp is not accepted: " + e.getMessage());
        }
    }

    private void tampered(String what) {
        tampered = true;
        trusted = false;
        findings.add(new Finding(index, what));
    }

    private void note(String what) {
        findings.add(new Finding(index, what));
    }

    private ProofVerdict verdict(@Nullable EventProof proof, @Nullable Checkpoint run, @Nullable Checkpoint log) {
        return verdict(proof, run, log, false);
    }

    private ProofVerdict verdict(
            @Nullable EventProof proof, @Nullable Checkpoint run, @Nullable Checkpoint log, boolean whole) {
        boolean anchored = !tampered && (witnessed || !stamped.isEmpty());
        if (!anchored) {
            limits.add("the time is the recorder's own: no trusted witness or time authority vouches for it");
        }
        var verification = new Verification(
                tampered ? Integrity.TAMPERED : Integrity.VERIFIED,
                Completeness.UNKNOWN,
                0L,
                anchored ? Time.ANCHORED : Time.HOST_CLOCK,
                new Authorship(List.copyOf(signers), trusted && !tampered),
                tampered ? 0 : 1,
                tampered ? 0 : log == null ? 1 : 2,
                findings);
        var row = new Row();
        boolean known = proof != null
                && LeafCodec.decode(proof.event().leaf(), 0, proof.event().leaf().length, row)
                && row.has(Column.KIND);
        Kind kind = known ? Kind.ofCode(row.number(Column.KIND)) : null;
        return new ProofVerdict(
                verification,
                whole && !tampered,
                proof,
                kind == null ? null : kind.eventName(),
                known && row.has(Column.AT_NS) ? row.number(Column.AT_NS) : 0,
                run,
                log,
                cosigned,
                stamped,
                limits);
    }
}
