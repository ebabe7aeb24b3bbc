package blackbox.vm.image;

import blackbox.files.AtomicFiles;
import blackbox.schemas.Hash;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.FileFingerprint;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Everything that was ever used for an image or an unpacked QEMU, by SHA-256: `archive/sha256/HEX`. A file is
/// added completely or not at all and is never changed; it is hashed again before it is used.
public final class PackageArchive {
    private static final Pattern SHA256 = Pattern.compile("[0-9a-f]{64}");
    private static final Pattern SHA512 = Pattern.compile("[0-9a-f]{128}");

    private final Path folder;
    private final Path bySha512;

    /// The archive below a data folder.
    public PackageArchive(Path data) {
        this.folder = new DataFolder(data).archivedObjects();
        this.bySha512 = new DataFolder(data).archivedBySha512();
    }

    /// Where an object of this digest is or would be.
    public Path path(String sha256) {
        return folder.resolve(Hash.ofHex(sha256).toString());
    }

    /// Whether there is an object of this digest.
    public boolean has(String sha256) {
        return Files.exists(path(sha256));
    }

    /// Whether there is an object of this digest, and its content has that digest.
    public boolean holds(String sha256) throws VmException {
        try {
            return has(sha256) && FileFingerprint.hash(path(sha256)).toString().equals(sha256);
        } catch (IOException e) {
            throw new VmException(Code.IO, "the archived object " + sha256 + " could not be read", e);
        }
    }

    /// The length of an object.
    ///
    /// @throws VmException `IMAGE_CORRUPT` when it is not there
    public long bytes(String sha256) throws VmException {
        try {
            return Files.size(path(sha256));
        } catch (IOException e) {
            throw new VmException(Code.IMAGE_CORRUPT, "the archive lacks " + sha256, e);
        }
    }

    /// Moves `file` into the archive and returns its digest.
    public String take(Path file) throws VmException {
        try {
            Files.createDirectories(folder);
            String sha256 = FileFingerprint.hash(file).toString();
            Path partial = folder.resolve("." + sha256 + ".partial");
            Files.move(file, partial, StandardCopyOption.REPLACE_EXISTING);
            AtomicFiles.rename(partial, path(sha256));
            return sha256;
        } catch (IOException e) {
            throw new VmException(Code.IO, "could not archive " + file, e);
        }
    }

    /// The digest of the object that was taken under this SHA-512; null if there is none. Whoever uses the
    /// object has to hash it: this only says where to look.
    public @Nullable String find(String sha512) throws VmException {
        Path entry = entry(sha512);
        try {
            String sha256 = Files.exists(entry) ? Files.readString(entry).strip() : "";
            return SHA256.matcher(sha256).matches() && has(sha256) ? sha256 : null;
        } catch (IOException e) {
            throw new VmException(Code.IO, entry + " could not be read", e);
        }
    }

    /// Moves `file`, whose SHA-512 the caller has checked, into the archive, to be found under that.
    public void take(Path file, String sha512) throws VmException {
        index(sha512, take(file));
    }

    /// Has an object be found under its SHA-512, which the caller has checked.
    public void index(String sha512, String sha256) throws VmException {
        Path entry = entry(sha512);
        try {
            Files.createDirectories(bySha512);
            AtomicFiles.onDisk().replace(entry, (sha256 + "\n").getBytes(StandardCharsets.US_ASCII));
        } catch (IOException e) {
            throw new VmException(Code.IO, entry + " could not be written", e);
        }
    }

    private Path entry(String sha512) {
        if (!SHA512.matcher(sha512).matches()) {
            throw new IllegalArgumentException("'" + sha512 + "' is not a SHA-512");
        }
        return bySha512.resolve(sha512);
    }

    /// Archives octets and returns their digest.
    public String take(byte[] octets) throws VmException {
        String sha256 = Hash.sha256(octets).toString();
        if (!has(sha256)) {
            try {
                Files.createDirectories(folder);
                Path partial = folder.resolve("." + sha256 + ".partial");
                Files.write(partial, octets);
                AtomicFiles.rename(partial, path(sha256));
            } catch (IOException e) {
                throw new VmException(Code.IO, "could not archive " + sha256, e);
            }
        }
        return sha256;
    }

    /// An object's content.
    ///
    /// @throws VmException `IMAGE_CORRUPT` when it is not there, or not what its name says
    public byte[] octets(String sha256) throws VmException {
        try {
            byte[] octets = Files.readAllBytes(path(sha256));
            if (!Hash.sha256(octets).toString().equals(sha256)) {
                throw new VmException(Code.IMAGE_CORRUPT, "the archived object " + sha256 + " has changed");
            }
            return octets;
        } catch (IOException e) {
            throw new VmException(Code.IMAGE_CORRUPT, "the archive lacks " + sha256, e);
        }
    }

    /// Copies an object to another name; the copy is hashed, so a changed archive is noticed here.
    public void copyTo(String sha256, Path target) throws VmException {
        try {
            Files.copy(path(sha256), target);
            if (!FileFingerprint.hash(target).toString().equals(sha256)) {
                throw new VmException(
                        Code.IMAGE_CORRUPT,
                        "the archived package " + sha256 + " has changed; delete it and build again to fetch it again");
            }
        } catch (IOException e) {
            throw new VmException(Code.IMAGE_CORRUPT, "the archive lacks " + sha256, e);
        }
    }
}
