package blackbox.vm.carry;

import blackbox.schemas.Hash;
import blackbox.vm.FolderFingerprint;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.image.GuestImage;
import blackbox.vm.image.ImageStore;
import blackbox.vm.qemu.Qemu;
import blackbox.vm.qemu.QemuBuild;
import blackbox.vm.qemu.QemuBuilds;
import blackbox.vm.snapshot.VmSnapshot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// What a run was started from and is found by its digest: which files it consists of, to take them to another data
/// folder, and whether files that came from elsewhere are it. In that other folder they are kept apart from the
/// folder's own: they serve to execute a run again, and never to record.
public enum StartFiles {
    /// The guest's image.
    IMAGE("image", Pattern.compile("vmlinuz|initrd\\.img|root\\.erofs|image\\.json")) {
        @Override
        @Nullable
        Path find(Path data, Hash digest) throws VmException {
            for (GuestImage image : new ImageStore(data).listForReplay()) {
                if (image.digest().equals(digest)) {
                    return image.folder();
                }
            }
            return null;
        }

        @Override
        boolean isOne(Path folder, Hash digest) throws VmException {
            GuestImage image = ImageStore.read(folder);
            image.check();
            return image.digest().equals(digest) && image.recordedDigest().equals(digest);
        }
    },
    /// Debian's QEMU, unpacked. An installed one is not found.
    QEMU("qemu", Pattern.compile("build\\.json|root/.+")) {
        @Override
        @Nullable
        Path find(Path data, Hash digest) throws VmException {
            Qemu qemu = new QemuBuilds(data, _ -> {}).forReplay(digest);
            return qemu == null || qemu.kind() != Qemu.Kind.UNPACKED
                    ? null
                    : qemu.place().getParent();
        }

        @Override
        boolean isOne(Path folder, Hash digest) throws VmException {
            QemuBuild build = QemuBuild.open(folder);
            return build.qemu().digest().equals(digest)
                    && FolderFingerprint.hash(folder.resolve(QemuBuild.ROOT)).equals(digest);
        }
    },
    /// The warm snapshot of a run that was recorded live; an exact recording has its own among its captures.
    SNAPSHOT("snapshot", Pattern.compile("ram|devices|state\\.qcow2|overlay\\.qcow2|events|snapshot\\.json")) {
        @Override
        @Nullable
        Path find(Path data, Hash digest) throws VmException {
            VmSnapshot snapshot = VmSnapshot.findForReplay(data, digest);
            return snapshot == null ? null : snapshot.folder();
        }

        @Override
        boolean isOne(Path folder, Hash digest) throws VmException {
            VmSnapshot snapshot = VmSnapshot.read(folder);
            return snapshot.digest().equals(digest)
                    && snapshot.verify()
                    && namesOnly(folder.resolve(VmSnapshot.STATE), null)
                    && namesOnly(folder.resolve(VmSnapshot.OVERLAY), "snapshot/" + VmSnapshot.STATE);
        }
    };

    private final String word;
    private final Pattern names;

    StartFiles(String word, Pattern names) {
        this.word = word;
        this.names = names;
    }

    /// Its name in a parcel.
    public String word() {
        return word;
    }

    /// The one of this name, or null.
    public static @Nullable StartFiles of(String word) {
        return Stream.of(values())
                .filter(each -> each.word.equals(word))
                .findFirst()
                .orElse(null);
    }

    /// Whether it may have a file of this name, relative to its folder.
    public boolean mayHave(String name) {
        return names.matcher(name).matches();
    }

    /// The folder that it is in here, or null.
    ///
    /// @param data the data folder
    public @Nullable Path folder(Path data, Hash digest) throws VmException {
        return find(data, digest);
    }

    abstract @Nullable Path find(Path data, Hash digest) throws VmException;

    abstract boolean isOne(Path folder, Hash digest) throws VmException;

    /// The files that it consists of, by their names relative to its folder.
    public SortedMap<String, Path> files(Path folder) throws VmException {
        var files = new TreeMap<String, Path>();
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path each : (Iterable<Path>) all::iterator) {
                String name = folder.relativize(each).toString();
                if (!Files.isDirectory(each, LinkOption.NOFOLLOW_LINKS) && mayHave(name)) {
                    files.put(name, each);
                }
            }
            return files;
        } catch (IOException e) {
            throw new VmException(Code.IO, folder + " could not be listed", e);
        }
    }

    /// Whether the files in a folder, which came from elsewhere, are the ones of this digest: hashes all of them.
    ///
    /// @throws VmException `IO`
    public boolean holds(Path folder, Hash digest) throws VmException {
        try {
            return isOne(folder, digest);
        } catch (VmException e) {
            if (e.code() == Code.IO) {
                throw e;
            }
            return false; // its record cannot be read, or does not fit its files
        }
    }

    /// Whether a state disk among a run's captures names no other file of the host.
    public static boolean isSelfContained(Path disk) throws VmException {
        return namesOnly(disk, null);
    }

    /// What a run's captures lack of the snapshot of this digest, or have otherwise.
    public static List<String> snapshotFaults(Path captures, Hash digest) throws VmException {
        return VmSnapshot.keptFaults(captures, digest);
    }

    private static boolean namesOnly(Path disk, @Nullable String backing) throws VmException {
        try {
            QcowHeader header = QcowHeader.read(disk);
            return header != null && !header.external() && Objects.equals(header.backing(), backing);
        } catch (IOException e) {
            throw new VmException(Code.IO, disk + " could not be read", e);
        }
    }
}
