package blackbox.evidence.bundle;

import blackbox.evidence.anchor.AnchorTrust;
import blackbox.evidence.attest.DsseEnvelope;
import blackbox.evidence.attest.InTotoStatement;
import blackbox.evidence.attest.MalformedAttestationException;
import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.store.FileDigest;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.TransparencyLogReader;
import blackbox.evidence.store.TrustFiles;
import blackbox.evidence.tiles.CheckedLog;
import blackbox.evidence.trust.KeyStatement;
import blackbox.evidence.verify.RunVerifier;
import blackbox.evidence.verify.Verification;
import blackbox.evidence.verify.Verification.Authorship;
import blackbox.evidence.verify.Verification.Completeness;
import blackbox.evidence.verify.Verification.Finding;
import blackbox.evidence.verify.Verification.Integrity;
import blackbox.evidence.verify.Verification.Time;
import blackbox.files.BoundedFiles;
import blackbox.files.RefusedFileException;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/// Verifies a bundle from its own octets and the keys that are trusted.
///
/// Order: the ZIP's form; the signed statement; every file against it, and no further file; then the run, by
/// the same code as in a data folder; then the completeness report. Nothing is accepted after the first of
/// these that does not hold.
public final class BundleVerifier {

    /// The file that makes a folder a bundle.
    public static final String STATEMENT = BundleLayout.STATEMENT;

    private static final String OWN_KEYS = "no key was given, so the bundle's own keys were used: it is consistent"
            + " in itself, but anyone could have made it. Get the recorder's public key through a channel that you trust and"
            + " pass it with --key";

    private static final int KEYS_MAX = 1_000;

    private final Path folder;
    private final List<NoteVerifier> given;
    private final AnchorTrust anchors;
    private final @Nullable RunId expected;
    private final List<Finding> findings = new ArrayList<>();

    private BundleVerifier(Path folder, @Nullable RunId expected, List<NoteVerifier> given, AnchorTrust anchors) {
        this.expected = expected;
        this.folder = folder;
        this.given = given;
        this.anchors = anchors;
    }

    /// Verifies the bundle at `path`, a ZIP or a folder.
    ///
    /// @param trusted whom to trust; if empty, the bundle's own keys, and the verdict says so
    /// @param anchors whose statements about time to trust; never taken from the bundle, whose maker chose
    ///     them
    /// @throws IOException when something cannot be read at all: an operating failure, not a verdict
    public static Verification verify(Path path, List<? extends NoteVerifier> trusted, AnchorTrust anchors)
            throws IOException {
        var keys = List.<NoteVerifier>copyOf(trusted);
        if (Files.isDirectory(path)) {
            return new BundleVerifier(path, null, keys, anchors).verify();
        }
        Path unpacked = Files.createTempDirectory("blackbox-bundle-"); // readable by its owner alone
        try {
            BundleZip.unpack(path, unpacked);
            return new BundleVerifier(unpacked, null, keys, anchors).verify();
        } catch (MalformedBundleException e) {
            return tampered(List.of(new Finding(-1, "the bundle: " + e.getMessage())));
        } finally {
            BundleFolder.delete(unpacked);
        }
    }

    /// Verifies the bundle in a folder, which must be of this run.
    static Verification verify(Path folder, RunId expected, List<? extends NoteVerifier> trusted, AnchorTrust anchors)
            throws IOException {
        return new BundleVerifier(folder, expected, List.copyOf(trusted), anchors).verify();
    }

    /// Unpacks a bundle into an empty folder that only this process's user can write, without verifying it.
    ///
    /// @throws MalformedBundleException if it is not the canonical ZIP of its files
    public static void unpack(Path zip, Path into) throws IOException, MalformedBundleException {
        BundleZip.unpack(zip, into);
    }

    /// Whether one of these keys, or one that the bundle's log of runs leads to from them, signed the bundle in this
    /// folder, as the evidence of this run.
    static boolean isSignedBy(Path folder, RunId expected, List<? extends NoteVerifier> keys) throws IOException {
        var verifier = new BundleVerifier(folder, expected, List.copyOf(keys), AnchorTrust.none());
        try {
            DsseEnvelope envelope = envelope(BundleFolder.files(folder).get(BundleLayout.STATEMENT));
            RunId run = run(InTotoStatement.of(envelope, Set.of(InTotoStatement.BUNDLE_V1)));
            return !keys.isEmpty()
                    && run.equals(expected)
                    && !envelope.signers(verifier.believed(verifier.given)).isEmpty();
        } catch (MalformedBundleException | MalformedAttestationException _) {
            return false;
        }
    }

    /// The public keys that the bundle in this folder has with it, for which nobody vouches.
    static List<NoteVerifier> ownKeys(Path folder) throws IOException {
        try {
            return ownKeys(BundleFolder.files(folder));
        } catch (MalformedBundleException _) {
            return List.of();
        }
    }

    private Verification verify() throws IOException {
        try {
            SortedMap<String, Path> files = BundleFolder.files(folder);
            DsseEnvelope envelope = envelope(files.remove(BundleLayout.STATEMENT));
            var statement = InTotoStatement.of(envelope, Set.of(InTotoStatement.BUNDLE_V1));
            RunId run = run(statement);
            if (expected != null && !expected.equals(run)) {
                throw new MalformedBundleException("it is of run " + run + ", not of run " + expected);
            }
            compare(files, statement.subjects());
            List<NoteVerifier> keys = given.isEmpty() ? ownKeys(files) : given;
            if (envelope.signers(believed(keys)).isEmpty()) {
                finding("its statement is not signed by a trusted key");
            }
            int account =
                    version(statement.predicate()).equals(BundleLayout.FIRST_VERSION) ? 1 : CompletenessReport.VERSION;
            return findings.isEmpty() ? verify(run, keys, account) : tampered(findings);
        } catch (MalformedBundleException | MalformedAttestationException e) {
            finding(e.getMessage());
            return tampered(findings);
        }
    }

    private void finding(@Nullable String what) {
        findings.add(new Finding(-1, "the bundle: " + what));
    }

    private static DsseEnvelope envelope(@Nullable Path file)
            throws IOException, MalformedBundleException, MalformedAttestationException {
        if (file == null) {
            throw new MalformedBundleException("it has no " + BundleLayout.STATEMENT);
        }
        try {
            return DsseEnvelope.parseOwn(BoundedFiles.read(file, DsseEnvelope.OCTETS_MAX));
        } catch (RefusedFileException e) {
            throw new MalformedBundleException("its statement is too long", e);
        }
    }

    private static RunId run(InTotoStatement statement) throws MalformedBundleException {
        Map<String, String> words = statement.predicate();
        String run = words.getOrDefault(BundleLayout.WORD_RUN, "");
        if (!words.equals(BundleLayout.predicate(version(words), run))) {
            throw new MalformedBundleException("its statement does not describe a " + BundleLayout.FIRST_VERSION
                    + " or " + BundleLayout.VERSION + ", which are the formats that this version of Blackbox knows");
        }
        try {
            return new RunId(run);
        } catch (IllegalArgumentException e) {
            throw new MalformedBundleException("its statement names no run", e);
        }
    }

    private static String version(Map<String, String> words) {
        return BundleLayout.FIRST_VERSION.equals(words.get(BundleLayout.WORD_FORMAT))
                ? BundleLayout.FIRST_VERSION
                : BundleLayout.VERSION;
    }

    /// Every file that is named is present and unchanged, and no other file is present.
    private void compare(SortedMap<String, Path> files, Map<String, Hash> subjects) throws IOException {
        for (var subject : subjects.entrySet()) {
            Path file = files.get(subject.getKey());
            if (file == null) {
                finding(subject.getKey() + " is missing");
            } else if (!FileDigest.sha256(file).equals(subject.getValue())) {
                finding(subject.getKey() + " was changed after the bundle was signed");
            }
        }
        for (String name : files.keySet()) {
            if (!subjects.containsKey(name)) {
                finding(name + " is not one of its files");
            }
        }
    }

    private static List<NoteVerifier> ownKeys(SortedMap<String, Path> files)
            throws IOException, MalformedBundleException {
        var keys = new ArrayList<NoteVerifier>();
        for (var file : files.tailMap(BundleLayout.KEYS).entrySet()) {
            if (file.getKey().startsWith(BundleLayout.KEYS) && file.getKey().endsWith(".pub")) {
                if (keys.size() == KEYS_MAX) {
                    throw new MalformedBundleException("it has more than " + KEYS_MAX + " keys");
                }
                try {
                    keys.add(TrustFiles.key(file.getValue()));
                } catch (IllegalArgumentException | RefusedFileException e) {
                    throw new MalformedBundleException(file.getKey() + " is not a public key", e);
                }
            }
        }
        return keys;
    }

    /// The trusted keys and those that the log of runs leads to from them.
    private List<NoteVerifier> believed(List<NoteVerifier> keys) throws IOException {
        var believed = new ArrayList<>(keys);
        var log = new TransparencyLogReader(Recordings.unchecked(folder).log());
        switch (CheckedLog.read(log, keys, null)) {
            case CheckedLog.Holds(CheckedLog checked) ->
                believed.addAll(checked.keys()
                        .believed(KeyStatement.Role.LOG, checked.checkpoint().size()));
            case CheckedLog.Broken(String why) -> finding(why);
            case CheckedLog.Absent() -> {} // recordings from before there was one
        }
        return believed;
    }

    /// @param accountVersion of the completeness report that bundles of this format have
    private Verification verify(RunId run, List<NoteVerifier> keys, int accountVersion) throws IOException {
        var recordings = Recordings.unchecked(folder);
        Verification verified = RunVerifier.verify(recordings, run, keys, null, anchors);
        findings.addAll(verified.findings());
        Integrity integrity = verified.integrity();
        if (integrity == Integrity.VERIFIED && !accountHolds(recordings, run, accountVersion)) {
            integrity = Integrity.TAMPERED;
            finding(BundleLayout.COMPLETENESS + " does not match the events");
        }
        boolean trusted = verified.authorship().trusted() && !given.isEmpty();
        if (given.isEmpty()) {
            findings.add(new Finding(-1, OWN_KEYS));
        }
        return new Verification(
                integrity,
                verified.completeness(),
                verified.unknownFrom(),
                verified.time(),
                new Authorship(verified.authorship().keys(), trusted),
                verified.events(),
                verified.checkpoints(),
                verified.anchors(),
                findings,
                verified.control());
    }

    private boolean accountHolds(Recordings recordings, RunId run, int version) throws IOException {
        Path account = folder.resolve(BundleLayout.COMPLETENESS);
        if (!Files.exists(account)) {
            return false;
        }
        byte[] expected = CompletenessReport.of(recordings, run, version);
        try {
            return Arrays.equals(BoundedFiles.read(account, expected.length), expected);
        } catch (RefusedFileException e) {
            return false;
        }
    }

    private static Verification tampered(List<Finding> findings) {
        return new Verification(
                Integrity.TAMPERED,
                Completeness.TRUNCATED,
                0L,
                Time.HOST_CLOCK,
                new Authorship(List.of(), false),
                0,
                0,
                findings);
    }
}
