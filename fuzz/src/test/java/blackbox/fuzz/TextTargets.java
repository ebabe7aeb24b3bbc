package blackbox.fuzz;

import static blackbox.fuzz.FuzzTarget.ensure;

import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.EntryBundle;
import blackbox.evidence.log.InclusionProof;
import blackbox.evidence.log.LogProof;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.log.TilePath;
import blackbox.evidence.log.TrustPolicy;
import blackbox.evidence.sign.CosignatureKey;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.sign.NoteVerifiers;
import blackbox.evidence.trust.KeyStatement;
import blackbox.evidence.trust.NextSigner;
import blackbox.evidence.trust.ReplayNote;
import blackbox.evidence.trust.RunKeyCertificate;
import blackbox.evidence.witness.AddCheckpoint;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import blackbox.schemas.table.DataFileName;
import blackbox.schemas.table.FileSeal;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/// The texts of the logs: notes, proofs, policies, statements about keys and runs.
final class TextTargets {
    private static final Ed25519Key KEY = Ed25519Key.create("blackbox/log/fuzz", new SecureRandom());
    private static final RunId RUN = new RunId("01kaj3v4e00000000000000001");
    private static final Ed25519Key EPOCH = Ed25519Key.create(RUN.origin(), new SecureRandom());
    private static final Instant AT = Instant.parse("2026-11-22T00:00:00Z");
    private static final int WIDTH = 3;

    private TextTargets() {}

    static List<FuzzTarget> all() {
        return List.of(
                FuzzTarget.of("note", 4 << 10, TextTargets::note, TextTargets::notes),
                FuzzTarget.of("log-proof", 4 << 10, TextTargets::proof, TextTargets::proofs),
                FuzzTarget.of(
                        "policy", 4 << 10, TextTargets::policy, TextTargets::policies, IllegalArgumentException.class),
                FuzzTarget.of("log-entry", 2 << 10, TextTargets::entry, TextTargets::entries),
                FuzzTarget.of("tile", 2 << 10, TextTargets::tile, TextTargets::tiles),
                FuzzTarget.of("witness", 4 << 10, TextTargets::witness, TextTargets::requests));
    }

    private static boolean note(byte[] octets) {
        SignedNote note = SignedNote.parse(octets);
        if (note == null) {
            return false;
        }
        ensure(Arrays.equals(utf8(note.encoded()), octets), "a note encodes to something else");
        ensure(note.signers(List.of(KEY.verifier())).size() <= 1, "one key signed more than once");
        Checkpoint checkpoint = Checkpoint.parse(note.text());
        ensure(checkpoint == null || checkpoint.text().equals(note.text()), "a checkpoint encodes to something else");
        ensure(checkpoint == null || checkpoint.size() >= 0, "a tree of negative size");
        return true;
    }

    private static Map<String, byte[]> notes() {
        return Map.of("checkpoint", utf8(checkpoint(5)), "text", utf8(SignedNote.sign("a text\n", KEY)));
    }

    private static String checkpoint(long size) {
        return SignedNote.sign(new Checkpoint(KEY.verifier().name(), size, Hash.sha256(new byte[1])).text(), KEY);
    }

    private static boolean proof(byte[] octets) {
        LogProof proof = LogProof.parse(new String(octets, StandardCharsets.UTF_8));
        if (proof == null) {
            return false;
        }
        ensure(proof.encoded().equals(new String(octets, StandardCharsets.UTF_8)), "a proof encodes to something else");
        ensure(proof.proven(Hash.sha256(new byte[2])) == null, "a leaf that is in no tree is proven");
        return true;
    }

    private static Map<String, byte[]> proofs() {
        SignedNote note = Objects.requireNonNull(SignedNote.parse(checkpoint(5)));
        List<Hash> path = List.of(Hash.ZERO, Hash.ZERO, Hash.ZERO);
        LogProof plain = LogProof.of(new InclusionProof(1, 5, path), note);
        return Map.of(
                "plain", utf8(plain.encoded()), "extra", utf8(new LogProof(new byte[] {1}, 1, path, note).encoded()));
    }

    private static boolean policy(byte[] octets) {
        TrustPolicy policy = TrustPolicy.parse(new String(octets, StandardCharsets.UTF_8), NoteVerifiers::parse);
        TrustPolicy again = TrustPolicy.parse(policy.text(), NoteVerifiers::parse);
        ensure(again.text().equals(policy.text()), "a policy says something else after it was written");
        SignedNote note = Objects.requireNonNull(SignedNote.parse(checkpoint(1)));
        ensure(!policy.judge(note).satisfied() || policy.quorum().equals("none"), "nobody is a quorum");
        return true;
    }

    private static Map<String, byte[]> policies() {
        CosignatureKey one = CosignatureKey.createEd25519("w.example/1", new SecureRandom());
        CosignatureKey two = CosignatureKey.createEd25519("w.example/2", new SecureRandom());
        return Map.of(
                "group",
                utf8("# whom we trust\nlog " + KEY.verifier().encoded() + "\nwitness one "
                        + one.verifier().encoded() + " https://w.example\nwitness two "
                        + two.verifier().encoded() + "\ngroup both 2 one two\ngroup any any both\nquorum any\n"));
    }

    private static boolean entry(byte[] octets) {
        String text = new String(octets, StandardCharsets.UTF_8);
        KeyStatement statement = KeyStatement.parse(text);
        ensure(statement == null || statement.text().equals(text), "a statement encodes to something else");
        ReplayNote replay = ReplayNote.parse(text);
        ensure(replay == null || replay.text().equals(text), "a verdict's note encodes to something else");
        RunKeyCertificate certificate = RunKeyCertificate.parse(text);
        ensure(certificate == null || certificate.text().equals(text), "a certificate encodes to something else");
        FileSeal seal = FileSeal.parse(text);
        ensure(seal == null || seal.text().equals(text), "a seal encodes to something else");
        try {
            NextSigner next = NextSigner.parse(text);
            ensure(NextSigner.parse(next.text()).text().equals(next.text()), "a signer encodes to something else");
        } catch (IllegalArgumentException _) {
            return statement != null || replay != null || certificate != null || seal != null;
        }
        return true;
    }

    private static Map<String, byte[]> entries() {
        return Map.of(
                "certificate", utf8(new RunKeyCertificate(RUN, EPOCH.verifier(), AT).text()),
                "seal", utf8(new FileSeal(RUN, new DataFileName(0, 9, "0123abcd"), 9, 100, Hash.ZERO).text()),
                "signer", utf8("direct"),
                "statement",
                        utf8(new KeyStatement(
                                        KeyStatement.Action.CERTIFY,
                                        KEY.verifier().name(),
                                        KEY.verifier(),
                                        KeyStatement.Role.INGEST,
                                        AT,
                                        null)
                                .text()));
    }

    /// A tile's path, or a bundle of entries.
    private static boolean tile(byte[] octets) {
        TilePath path = TilePath.parse(new String(octets, StandardCharsets.UTF_8));
        if (path != null) {
            ensure(path.path().equals(new String(octets, StandardCharsets.UTF_8)), "a path is written otherwise");
            ensure(path.bytesMax() > 0 && path.index() >= 0, "a tile of no octets");
        }
        EntryBundle bundle = EntryBundle.parse(octets, WIDTH);
        if (bundle != null) {
            ensure(bundle.entries().size() == WIDTH, "a bundle has another number of entries");
            ensure(Arrays.equals(bundle.encoded(), octets), "a bundle encodes to something else");
        }
        return path != null || bundle != null;
    }

    private static Map<String, byte[]> tiles() {
        byte[] one = utf8("one");
        return Map.of(
                "path", utf8("tile/entries/x001/234.p/56"),
                "bundle", new EntryBundle(List.of(one, new byte[0], one)).encoded());
    }

    private static boolean witness(byte[] octets) {
        AddCheckpoint request = AddCheckpoint.parse(octets);
        if (request == null) {
            return false;
        }
        ensure(Arrays.equals(request.encoded(), octets), "a request encodes to something else");
        return true;
    }

    private static Map<String, byte[]> requests() {
        return Map.of("first", utf8("old 0\n\n" + checkpoint(5)));
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
