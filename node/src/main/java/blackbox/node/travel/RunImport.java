package blackbox.node.travel;

import blackbox.evidence.bundle.BundleVerifier;
import blackbox.evidence.bundle.MalformedBundleException;
import blackbox.evidence.bundle.RunOrigin;
import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.tiles.StaticRunLog;
import blackbox.evidence.trust.ReplayNote.ReplayMethod;
import blackbox.evidence.verify.Verification;
import blackbox.evidence.verify.Verification.Integrity;
import blackbox.files.AtomicFiles;
import blackbox.files.Folders;
import blackbox.node.data.DataFiles;
import blackbox.node.data.ImportStaging;
import blackbox.node.data.LocalTrust;
import blackbox.node.travel.TravelException.Code;
import blackbox.recorder.keys.PayloadKeyFile;
import blackbox.replay.inputs.SealedStart;
import blackbox.schemas.Hash;
import blackbox.schemas.Progress;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import blackbox.vault.ShredMark;
import blackbox.vault.age.AgeException;
import blackbox.vault.age.AgeInput;
import blackbox.vault.age.AgeUnlock;
import blackbox.vault.parcel.MalformedParcelException;
import blackbox.vault.parcel.ParcelManifest;
import blackbox.vault.parcel.ParcelPart;
import blackbox.vault.parcel.ParcelReader;
import blackbox.vault.stream.ReadAheadInput;
import blackbox.vm.VmException;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Takes a run from a file that [RunExport] wrote, after all of it was checked: the file's form and its last
/// octet, the evidence with the verifier, every captured file against what the run sealed, and what it was
/// started from against the digests in its first event. It is taken completely or not at all, and nothing
/// that is here is replaced. Used by one thread.
public final class RunImport {

    /// The first part's name.
    static final String BUNDLE = "bundle.zip";

    /// What the names of captured files begin with.
    static final String CAPTURE = "capture/";

    private static final int BUFFER_BYTES = 1 << 18;
    private static final long SPARE_BYTES = 64L << 20;

    private final DataFolder data;
    private final Progress progress;
    private final ImportStaging.Steps steps;

    /// Imports into a data folder.
    public RunImport(DataFolder data, Progress progress) {
        this(data, progress, _ -> {});
    }

    /// The same, with an observer of its steps.
    RunImport(DataFolder data, Progress progress, ImportStaging.Steps steps) {
        this.data = data;
        this.progress = progress;
        this.steps = steps;
    }

    /// What to take.
    ///
    /// @param key opens it, or null
    /// @param trusted the public keys that are to be trusted for this run
    public record Request(Path file, @Nullable AgeUnlock key, List<NoteVerifier> trusted) {
        public Request {
            trusted = List.copyOf(trusted);
        }
    }

    /// What was taken.
    ///
    /// @param fresh false if the run was here before, and nothing but trusted keys was taken
    /// @param trusted whether a key that is trusted here vouches for it
    /// @param keys who signed it
    /// @param parts what the file holds
    /// @param foreignQemu the digest of the QEMU that came with it and that a replay will execute; null if
    ///     there is none, or the data folder has its own
    public record Taken(
            RunId run,
            boolean fresh,
            boolean trusted,
            List<String> keys,
            List<PartSize> parts,
            @Nullable Hash foreignQemu) {
        public Taken {
            keys = List.copyOf(keys);
            parts = List.copyOf(parts);
        }
    }

    /// Whether a replay needs the data folder's warm snapshot: an exact recording has its own.
    static boolean needsSnapshot(SealedStart start) {
        return start.tier() != ReplayMethod.EXACT;
    }

    /// Takes a run.
    public Taken take(Request request) throws IOException, TravelException, VmException {
        try (ImportStaging staging = ImportStaging.tryOpen(data, steps)) {
            if (staging == null) {
                throw new TravelException(
                        Code.FAILED, "another process is importing into " + data.root() + "; wait until it is done");
            }
            return take(request, staging);
        } catch (SealedInput.BrokenSealException e) {
            throw e.why();
        } catch (AgeException e) {
            boolean altered = e.code() == AgeException.Code.ALTERED || e.code() == AgeException.Code.CUT;
            throw new TravelException(
                    altered ? Code.ALTERED : Code.BAD_INPUT,
                    request.file() + " cannot be opened: " + e.getMessage() + "; nothing was taken",
                    e);
        } catch (MalformedParcelException e) {
            throw new TravelException(Code.ALTERED, request.file() + " " + e.getMessage() + "; nothing was taken", e);
        } catch (FileAlreadyExistsException e) {
            throw new TravelException(
                    Code.BAD_INPUT, e.getFile() + " is here already, and nothing is replaced; nothing was taken", e);
        } catch (NoSuchFileException e) {
            if (request.file().toString().equals(e.getFile())) {
                throw new TravelException(Code.BAD_INPUT, "there is no file " + request.file(), e);
            }
            throw e;
        }
    }

    private Taken take(Request request, ImportStaging staging) throws IOException, TravelException, VmException {
        try (var file = new BufferedInputStream(Files.newInputStream(request.file()), BUFFER_BYTES);
                InputStream in = new ReadAheadInput(opened(file, request), "import-decrypt");
                var parcel = new ParcelReader(in)) {
            PayloadKeyFile.vault(data).prepare();
            return new Taking(request, staging, parcel).take();
        }
    }

    private static InputStream opened(InputStream file, Request request) throws IOException, TravelException {
        int most = Math.max(AgeInput.headBytes(), ParcelReader.headBytes());
        file.mark(most);
        byte[] head = file.readNBytes(most);
        file.reset();
        if (AgeInput.isOne(head)) {
            AgeUnlock key = request.key();
            if (key == null) {
                throw new TravelException(
                        Code.BAD_INPUT,
                        request.file() + " is encrypted: give the file with its passphrase with --passphrase-file, or"
                                + " your identity with --identity");
            }
            return new AgeInput(file, key);
        }
        if (!ParcelReader.isOne(Arrays.copyOf(head, Math.min(head.length, ParcelReader.headBytes())))) {
            throw new TravelException(
                    Code.BAD_INPUT,
                    request.file() + " is not a run that `blackbox export --format replay` of this version wrote");
        }
        return file;
    }

    /// One file that is being taken.
    private final class Taking {
        private final Request request;
        private final ImportStaging staging;
        private final ParcelReader parcel;
        private final RunId run;
        private final Recordings here;
        private final Recordings staged;
        private final List<NoteVerifier> keys;

        Taking(Request request, ImportStaging staging, ParcelReader parcel) throws IOException {
            this.request = request;
            this.staging = staging;
            this.parcel = parcel;
            this.run = parcel.manifest().run();
            this.here = new LocalTrust(data).recordings();
            this.staged = DataFiles.unchecked(staging.folder());
            var trusted = new ArrayList<>(new LocalTrust(data).believedKeys());
            trusted.addAll(request.trusted());
            this.keys = trusted;
        }

        Taken take() throws IOException, TravelException, VmException {
            ParcelManifest manifest = parcel.manifest();
            if (!manifest.parts().getFirst().name().equals(BUNDLE)) {
                throw new TravelException(Code.ALTERED, request.file() + " does not begin with a run's evidence");
            }
            requireRoom(manifest);
            Verification verified = evidence();
            staging.step("evidence");
            boolean isHere = here.runs().contains(run);
            if (isHere) {
                requireSame();
            }
            RunSeals seals = RunSeals.of(staged, run);
            var parts = new StagedParts(data, staging.folder(), run, seals, progress);
            List<PartSize> sizes = parts.take(parcel, staging);
            parcel.end();
            progress.say("checking what the run was started from");
            parts.check();
            staging.step("checked");
            if (isHere) {
                trustHere();
            } else {
                ownLog();
                staging.publish(run);
            }
            boolean trusted = isTrusted();
            return new Taken(
                    run, !isHere, trusted, verified.authorship().keys(), sizes, isHere ? null : parts.foreignQemu());
        }

        private void requireRoom(ParcelManifest manifest) throws IOException, TravelException {
            long needed = manifest.parts().stream()
                    .filter(part -> !StagedParts.isSparse(part.name()))
                    .mapToLong(ParcelPart::bytes)
                    .sum();
            long free = Files.getFileStore(data.imported()).getUsableSpace();
            if (free < needed + needed / 1_000 + SPARE_BYTES) {
                throw new TravelException(
                        Code.DISK_FULL,
                        request.file() + " holds " + needed + " octets, and " + data.root() + " has room for " + free);
            }
        }

        private Verification evidence() throws IOException, TravelException {
            progress.say("verifying the evidence of run " + run);
            Path zip = staging.folder().root().resolve(BUNDLE);
            try (InputStream in = parcel.next()) {
                Files.copy(in, zip);
            }
            Path evidence = staging.folder().importedEvidence(run);
            Folders.create(evidence);
            try {
                BundleVerifier.unpack(zip, evidence);
            } catch (MalformedBundleException e) {
                throw new TravelException(
                        Code.ALTERED, "the evidence of run " + run + " is no bundle: " + e.getMessage(), e);
            }
            Files.delete(zip);
            writeTrust(staging.folder());
            Verification verified = RunOrigin.verify(staged, run, keys, null, new LocalTrust(data).anchorTrust());
            if (verified.integrity() != Integrity.VERIFIED) {
                throw new TravelException(
                        Code.ALTERED,
                        "the evidence of run " + run + " does not hold: "
                                + verified.findings().getFirst().what() + "; nothing was taken");
            }
            if (!request.trusted().isEmpty() && !RunOrigin.isTrusted(staged, run, request.trusted())) {
                throw new TravelException(
                        Code.ALTERED,
                        "no key that --key names vouches for run " + run + ", which "
                                + String.join(", ", verified.authorship().keys())
                                + " signed; without --key it is taken as untrusted. Nothing was taken");
            }
            Durable.sync(evidence);
            return verified;
        }

        /// The keys that the user trusts for this run, by their ids.
        private void writeTrust(DataFolder folder) throws IOException {
            int number = 0;
            for (NoteVerifier key : request.trusted()) {
                byte[] line = (key.encoded() + "\n").getBytes(StandardCharsets.UTF_8);
                String name = Hash.sha256(line).toString().substring(0, 16) + "-" + number++ + ".pub";
                AtomicFiles.onDisk().replace(folder.importedTrust(run).resolve(name), line);
            }
        }

        private boolean isTrusted() throws IOException {
            return new LocalTrust(data).recordings().trust().trusts(run);
        }

        /// Requires that the run that is here is the one that came.
        private void requireSame() throws IOException, TravelException {
            ShredMark mark = PayloadKeyFile.vault(data).shredded(run);
            if (mark != null) {
                throw new TravelException(Code.BAD_INPUT, mark.text() + "; it is not taken again");
            }
            if (here.isLive(run)
                    || !Objects.equals(
                            StaticRunLog.lastCheckpoint(here, run), StaticRunLog.lastCheckpoint(staged, run))) {
                throw new TravelException(
                        Code.ALTERED,
                        "run " + run + " is here already, with other events than " + request.file()
                                + " has; nothing was taken");
            }
        }

        private void trustHere() throws IOException {
            if (here.isImported(run)) {
                writeTrust(data);
            }
        }

        /// Verdicts on replays need a log of runs of this data folder's own: who imports may never have
        /// recorded.
        private void ownLog() {
            OwnLog.make(data, progress);
        }
    }
}
