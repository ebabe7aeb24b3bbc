package blackbox.node.travel;

import blackbox.files.Folders;
import blackbox.node.data.ImportStaging;
import blackbox.node.travel.TravelException.Code;
import blackbox.recorder.keys.PayloadKeyFile;
import blackbox.replay.inputs.SealedStart;
import blackbox.schemas.Hash;
import blackbox.schemas.Progress;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.CaptureName;
import blackbox.schemas.folder.DataFolder;
import blackbox.vault.Vault;
import blackbox.vault.parcel.ParcelPart;
import blackbox.vault.parcel.ParcelReader;
import blackbox.vault.stream.ReadAheadInput;
import blackbox.vm.VmException;
import blackbox.vm.carry.StartFiles;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The parts of a run that is being imported, after its evidence: put into the staging folder while they are
/// checked, captured files encrypted from their first octet if they may hold secrets. Used by one thread.
final class StagedParts {

    private static final long RECORD_BYTES_MAX = 16 << 20;

    private final DataFolder data;
    private final DataFolder staged;
    private final RunId run;
    private final RunSeals seals;
    private final Progress progress;
    private final Vault vault;

    /// What came with it and is not here yet: into which folder.
    private final Map<StartFiles, Path> fresh = new EnumMap<>(StartFiles.class);

    private final Map<StartFiles, Hash> wanted = new EnumMap<>(StartFiles.class);

    StagedParts(DataFolder data, DataFolder staged, RunId run, RunSeals seals, Progress progress) throws VmException {
        this.data = data;
        this.staged = staged;
        this.run = run;
        this.seals = seals;
        this.progress = progress;
        this.vault = PayloadKeyFile.staging(staged, data);
        SealedStart start = seals.start();
        wanted.put(StartFiles.IMAGE, start.image());
        wanted.put(StartFiles.QEMU, start.qemu().digest());
        Hash snapshot = start.snapshot();
        if (snapshot != null && RunImport.needsSnapshot(start)) {
            wanted.put(StartFiles.SNAPSHOT, snapshot);
        }
    }

    /// Whether a file is mostly zeros, which take no room.
    static boolean isSparse(String part) {
        return part.equals(RunImport.CAPTURE + CaptureName.RAM.text())
                || part.equals(StartFiles.SNAPSHOT.word() + "/ram");
    }

    /// Takes all parts but the first, and returns what each took.
    List<PartSize> take(ParcelReader parcel, ImportStaging staging) throws IOException, TravelException, VmException {
        List<ParcelPart> parts = parcel.manifest().parts();
        var sizes = new LinkedHashMap<String, PartSize>();
        sizes.put("evidence", new PartSize("evidence", 1, parts.getFirst().bytes(), 0));
        for (ParcelPart part : parts.subList(1, parts.size())) {
            String table = part.name().startsWith(RunImport.CAPTURE)
                    ? part.name().substring(RunImport.CAPTURE.length())
                    : part.group();
            if (!sizes.containsKey(table)) {
                staging.step("before " + table);
                progress.say("taking " + table);
            }
            try (InputStream in = parcel.next()) {
                take(part, in);
            }
            sizes.merge(table, new PartSize(table, 1, part.bytes(), 0), PartSize::plus);
        }
        return List.copyOf(sizes.values());
    }

    private void take(ParcelPart part, InputStream in) throws IOException, TravelException, VmException {
        String group = part.group();
        String rest = part.name().substring(Math.min(part.name().length(), group.length() + 1));
        StartFiles what = StartFiles.of(group);
        if (what != null && what.mayHave(rest) && (what == StartFiles.QEMU || part.link() == null)) {
            takeStarted(what, rest, part, in);
            return;
        }
        CaptureName name = part.name().startsWith(RunImport.CAPTURE) ? RunSeals.named(rest) : null;
        if (name == null || part.link() != null || part.executable()) {
            throw refused(part, "no run has such a file");
        }
        if (seals.bytes(name, part.bytes()) != part.bytes()) {
            throw refused(part, "the run sealed another length of it, or nothing");
        }
        try (InputStream checked = checked(part, in, seals.of(name))) {
            if (CaptureName.SECRET.contains(name)) {
                vault.store(run, name.text(), checked);
            } else {
                Durable.write(name.in(staged.captures(run)), checked, part.bytes(), false);
            }
        }
    }

    /// Decompressed on one thread, and checked on another.
    private static InputStream checked(ParcelPart part, InputStream in, Seal seal) throws IOException {
        InputStream decompressed = ReadAheadInput.of(in, part.bytes(), "import-decompress");
        return ReadAheadInput.of(new SealedInput(decompressed, part.bytes(), seal), part.bytes(), "import-check");
    }

    private static TravelException refused(ParcelPart part, String why) {
        return new TravelException(
                Code.ALTERED, "its part " + part.name() + " is refused: " + why + "; nothing was taken");
    }

    private void takeStarted(StartFiles what, String name, ParcelPart part, InputStream in)
            throws IOException, TravelException, VmException {
        Hash digest = wanted.get(what);
        if (digest == null || part.bytes() > RECORD_BYTES_MAX && name.endsWith(".json")) {
            throw refused(part, "the run was not started from it");
        }
        if (!fresh.containsKey(what) && what.folder(data.root(), digest) != null) {
            long unused = in.transferTo(OutputStream.nullOutputStream()); // the one that is here will be used
            return;
        }
        Path folder = place(what).resolve(digest.toString());
        fresh.put(what, folder);
        Path file = folder.resolve(name);
        if (part.link() != null) {
            Folders.create(file.resolveSibling("."));
            Files.createSymbolicLink(file, Path.of(part.link()));
        } else {
            try (InputStream decompressed = ReadAheadInput.of(in, part.bytes(), "import-decompress")) {
                Durable.write(file, decompressed, part.bytes(), part.executable());
            }
        }
    }

    private Path place(StartFiles what) {
        return switch (what) {
            case IMAGE -> staged.importedImages();
            case QEMU -> staged.importedQemu();
            case SNAPSHOT -> staged.importedSnapshots();
        };
    }

    /// Checks what could not be checked in passing, and makes all of it durable.
    void check() throws IOException, TravelException, VmException {
        for (Map.Entry<StartFiles, Path> each : fresh.entrySet()) {
            Hash digest = wanted.get(each.getKey());
            if (digest == null || !each.getKey().holds(each.getValue(), digest)) {
                throw new TravelException(
                        Code.ALTERED,
                        "the " + each.getKey().word() + " in it is not the one that the run was started from, " + digest
                                + "; nothing was taken");
            }
            Durable.sync(each.getValue());
        }
        Path captures = staged.captures(run);
        if (Files.isDirectory(captures)) {
            checkSnapshot(captures);
            Durable.sync(captures);
        }
    }

    private void checkSnapshot(Path captures) throws TravelException, VmException {
        Path base = CaptureName.BASE.in(captures);
        if (Files.exists(base) && !StartFiles.isSelfContained(base)) {
            throw new TravelException(
                    Code.ALTERED, "the state disk in it names another file of the host; nothing was taken");
        }
        Hash snapshot = seals.start().snapshot();
        boolean any = Files.exists(base)
                || Files.exists(CaptureName.RAM.in(captures))
                || Files.exists(CaptureName.DEVICES.in(captures));
        if (!any) {
            return;
        }
        List<String> faults = snapshot == null
                ? List.of("a snapshot")
                : StartFiles.snapshotFaults(captures, snapshot).stream()
                        .filter(name ->
                                Files.exists(captures.resolve(name)) || name.equals(CaptureName.BASE_DIGESTS.text()))
                        .toList();
        if (!faults.isEmpty()) {
            throw new TravelException(
                    Code.ALTERED,
                    "what the run was started from is not what it sealed: " + String.join(", ", faults)
                            + "; nothing was taken");
        }
    }

    /// The QEMU that came with it, if the data folder has none of its own: the digest.
    @Nullable
    Hash foreignQemu() {
        return fresh.containsKey(StartFiles.QEMU) ? wanted.get(StartFiles.QEMU) : null;
    }
}
