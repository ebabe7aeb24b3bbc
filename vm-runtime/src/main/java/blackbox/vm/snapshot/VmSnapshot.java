package blackbox.vm.snapshot;

import blackbox.files.Folders;
import blackbox.schemas.Hash;
import blackbox.schemas.folder.CaptureName;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.FileFingerprint;
import blackbox.vm.Json;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.machine.GuestMessage.Ready;
import blackbox.vm.process.QemuArguments;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// A machine that was stopped right after the tracer reported that it was ready, before anything else had run: its
/// RAM, its devices and its state disk. Runs start from it, copy-on-write.
///
/// @param folder where its files are
/// @param digest over RAM, devices and state disk, see [#digestText]
/// @param ready the guest's message before it was stopped
public record VmSnapshot(Path folder, Hash digest, Ready ready) {
    public static final String RAM = QemuArguments.BASE_RAM;
    public static final String DEVICES = "devices";
    public static final String STATE = QemuArguments.BASE_STATE;
    public static final String OVERLAY = "overlay.qcow2";
    public static final String EVENTS = "events";
    /// Exact tier only: the head of a replay log as this QEMU writes it.
    public static final String HEADER = "replay.header";
    public static final String RECORD = "snapshot.json";

    /// 1: the digest of RAM is that of the whole file. 2: it is a [PageDigest].
    private static final int FORMAT = 2;
    private static final int FORMAT_OF_WHOLE_RAM = 1;

    /// The name of RAM's line in [#digestText] if its digest is a [PageDigest].
    private static final String RAM_PAGES = "ram-pages";
    private static final List<String> DIGESTED = List.of(RAM, DEVICES, STATE);

    /// `snapshot.json`.
    private record Stored(int format, String digest, Map<String, FileFingerprint> files, Ready ready) {
        /// Whether the file of this name still has its digest.
        boolean holds(String name, Path file) throws VmException {
            FileFingerprint fingerprint = files.get(name);
            if (fingerprint == null || !Files.exists(file)) {
                return false;
            }
            return name.equals(RAM) && format != FORMAT_OF_WHOLE_RAM
                    ? PageDigest.of(file).toString().equals(fingerprint.sha256())
                    : fingerprint.holds(file);
        }

        /// See [VmSnapshot#digestText].
        String text() {
            return digestText(format, new TreeMap<>(files));
        }
    }

    /// Reads a snapshot's record and checks that its files seem to be the ones that were hashed.
    ///
    /// @throws VmException `IMAGE_CORRUPT` when one has changed
    static VmSnapshot open(Path folder) throws VmException {
        Stored stored = stored(folder);
        var files = new TreeMap<>(stored.files());
        for (var each : stored.files().entrySet()) {
            Path file = folder.resolve(each.getKey());
            if (!each.getValue().seemsUnchanged(file)) {
                if (!stored.holds(each.getKey(), file)) {
                    throw new VmException(
                            Code.IMAGE_CORRUPT,
                            file + " has changed since the snapshot was made; delete its folder and run again");
                }
                files.put(each.getKey(), each.getValue().at(file)); // the folder was copied
            }
            if (!Files.isWritable(file) && each.getKey().equals(RAM)) {
                protect(file); // made by a version that write-protected RAM as well, which worked only for root
            }
        }
        if (!files.equals(new TreeMap<>(stored.files()))) {
            Json.write(folder.resolve(RECORD), new Stored(stored.format(), stored.digest(), files, stored.ready()));
        }
        return new VmSnapshot(folder, Hash.ofHex(stored.digest()), stored.ready());
    }

    private static Stored stored(Path folder) throws VmException {
        Stored stored = Json.read(folder.resolve(RECORD), Stored.class, Code.IMAGE_CORRUPT);
        if (stored.format() < FORMAT_OF_WHOLE_RAM || stored.format() > FORMAT) {
            throw new VmException(
                    Code.IMAGE_CORRUPT,
                    folder + " has the format " + stored.format() + ", which this version of Blackbox does not know: a"
                            + " newer one made it. Use that one, or another --data folder");
        }
        return stored;
    }

    /// Hashes the files of a snapshot that has just been made and writes its record.
    static VmSnapshot seal(Path folder, Ready ready) throws VmException {
        var files = new TreeMap<String, FileFingerprint>();
        for (String name : List.of(RAM, DEVICES, STATE, OVERLAY, EVENTS, HEADER)) {
            Path file = folder.resolve(name);
            if (name.equals(HEADER) && !Files.exists(file)) {
                continue;
            }
            protect(file);
            files.put(
                    name, name.equals(RAM) ? FileFingerprint.of(file, PageDigest.of(file)) : FileFingerprint.of(file));
        }
        Hash digest = Hash.sha256(digestText(FORMAT, files).getBytes(StandardCharsets.UTF_8));
        Json.write(folder.resolve(RECORD), new Stored(FORMAT, digest.toString(), files, ready));
        return new VmSnapshot(folder, digest, ready);
    }

    /// Removes write permission, which prevents accidents, except from RAM: QEMU opens that file for writing
    /// even if it maps it privately and so never writes to it (`rom=off` of QEMU 8.2 would avoid that, 7.2
    /// does not have it). A write to it would be noticed by its fingerprint.
    private static void protect(Path file) throws VmException {
        boolean isRam = file.endsWith(RAM);
        if (!file.toFile().setWritable(isRam, isRam)) { // for its owner only, or for nobody
            throw new VmException(Code.IO, "the permissions of " + file + " could not be set");
        }
    }

    /// The snapshot of this digest below a data folder, or null. Its record is not checked against its files:
    /// [#changed] does that.
    public static @Nullable VmSnapshot find(Path data, Hash digest) throws VmException {
        return findIn(new DataFolder(data).snapshots(), digest);
    }

    /// The same, or else one that came with an imported run: to execute such a run again, never to record.
    public static @Nullable VmSnapshot findForReplay(Path data, Hash digest) throws VmException {
        VmSnapshot own = find(data, digest);
        return own != null ? own : findIn(new DataFolder(data).importedSnapshots(), digest);
    }

    /// The snapshot in a folder of whatever name. Its record is not checked against its files: [#changed] does that.
    ///
    /// @throws VmException `IMAGE_CORRUPT` when its record cannot be read
    public static VmSnapshot read(Path folder) throws VmException {
        Stored stored = stored(folder);
        return new VmSnapshot(folder, Hash.ofHex(stored.digest()), stored.ready());
    }

    private static @Nullable VmSnapshot findIn(Path all, Hash digest) throws VmException {
        if (!Files.isDirectory(all)) {
            return null;
        }
        try (Stream<Path> folders = Files.list(all)) {
            for (Path folder : folders.filter(VmSnapshot::exists).sorted().toList()) {
                Stored stored = Json.read(folder.resolve(RECORD), Stored.class, Code.IMAGE_CORRUPT);
                if (stored.digest().equals(digest.toString())) {
                    return new VmSnapshot(folder, digest, stored.ready());
                }
            }
            return null;
        } catch (IOException e) {
            throw new VmException(Code.IO, all + " could not be listed", e);
        }
    }

    /// Hashes every file again and names those that have changed since the digest was made; also the record, if its
    /// digest does not match its content.
    public List<String> changed() throws VmException {
        Stored stored = stored(folder);
        var changed = new ArrayList<String>();
        for (var each : new TreeMap<>(stored.files()).entrySet()) {
            if (!stored.holds(each.getKey(), folder.resolve(each.getKey()))) {
                changed.add(each.getKey());
            }
        }
        if (!stored.files().keySet().containsAll(DIGESTED)
                || !Hash.sha256(stored.text().getBytes(StandardCharsets.UTF_8)).equals(digest)) {
            changed.add(RECORD);
        }
        return changed;
    }

    /// Hashes every file again.
    ///
    /// @return whether all of them still match the digest
    public boolean verify() throws VmException {
        return changed().isEmpty();
    }

    /// Stores the state disk, and the text that contains its digest, in `target`, where they remain when this
    /// snapshot is deleted: as a hard link if possible, which costs no space.
    public void keepState(Path target) throws VmException {
        Stored stored = Json.read(folder.resolve(RECORD), Stored.class, Code.IMAGE_CORRUPT);
        Path base = CaptureName.BASE.in(target);
        try {
            Path digests = CaptureName.BASE_DIGESTS.in(target);
            Files.writeString(digests, stored.text());
            keep(STATE, base);
            for (Path kept : List.of(digests, base)) {
                try (var file = FileChannel.open(kept, StandardOpenOption.READ)) {
                    file.force(true);
                }
            }
            Folders.sync(target);
        } catch (IOException e) {
            throw new VmException(Code.IO, "the state disk's base could not be stored in " + target, e);
        }
    }

    /// Stores everything that a replay starts from in `target`, in the same way as [#keepState].
    public void keepWhole(Path target) throws VmException {
        keepState(target);
        try {
            keep(RAM, CaptureName.RAM.in(target));
            keep(DEVICES, CaptureName.DEVICES.in(target));
            keep(HEADER, CaptureName.HEADER.in(target));
            keep(EVENTS, CaptureName.EVENTS_BEFORE.in(target));
        } catch (IOException e) {
            throw new VmException(Code.IO, "the snapshot could not be stored in " + target, e);
        }
    }

    /// Hashes again what [#keepWhole] stored in `captures`.
    ///
    /// @param digest of the snapshot
    /// @return the files that are missing or changed
    public static List<String> keptFaults(Path captures, Hash digest) throws VmException {
        try {
            Path digests = CaptureName.BASE_DIGESTS.in(captures);
            if (!Files.exists(digests)
                    || !Hash.sha256(Files.readAllBytes(digests)).equals(digest)) {
                return List.of(CaptureName.BASE_DIGESTS.text());
            }
            var faults = new ArrayList<String>();
            var names = Map.of(
                    RAM,
                    CaptureName.RAM.text(),
                    RAM_PAGES,
                    CaptureName.RAM.text(),
                    DEVICES,
                    CaptureName.DEVICES.text(),
                    STATE,
                    CaptureName.BASE.text());
            for (String line : Files.readAllLines(digests)) {
                String[] words = line.split(" ", -1);
                String name = names.get(words[0]);
                if (name != null) {
                    Path file = captures.resolve(name);
                    if (!Files.exists(file)
                            || !digest(words[0], file).toString().equals(words[1])) {
                        faults.add(name);
                    }
                }
            }
            return faults;
        } catch (IOException e) {
            throw new VmException(Code.IO, "what is stored in " + captures + " could not be read", e);
        }
    }

    private static Hash digest(String line, Path file) throws VmException, IOException {
        return line.equals(RAM_PAGES) ? PageDigest.of(file) : FileFingerprint.hash(file);
    }

    private void keep(String name, Path as) throws IOException {
        try {
            Files.createLink(as, folder.resolve(name));
        } catch (IOException | UnsupportedOperationException e) {
            Files.copy(folder.resolve(name), as); // another file system
        }
    }

    static boolean exists(Path folder) {
        return Files.exists(folder.resolve(RECORD));
    }

    /// The text whose SHA-256 is the digest, these lines, each ended by a line feed: `blackbox-snapshot-v2`,
    /// then `NAME DIGEST` for `ram-pages` (a [PageDigest]), `devices` and `state.qcow2` (SHA-256). Until
    /// 2026-11-25 it was `blackbox-snapshot-v1`, and `ram` with the SHA-256 of the whole file.
    private static String digestText(int format, SortedMap<String, FileFingerprint> files) {
        boolean whole = format == FORMAT_OF_WHOLE_RAM;
        var text = new StringBuilder(whole ? "blackbox-snapshot-v1\n" : "blackbox-snapshot-v2\n");
        for (String name : DIGESTED) {
            FileFingerprint fingerprint = files.get(name);
            if (fingerprint == null) {
                throw new IllegalArgumentException("a snapshot without " + name);
            }
            text.append(name.equals(RAM) && !whole ? RAM_PAGES : name)
                    .append(' ')
                    .append(fingerprint.sha256())
                    .append('\n');
        }
        return text.toString();
    }
}
