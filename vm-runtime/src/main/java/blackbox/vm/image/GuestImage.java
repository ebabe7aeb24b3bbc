package blackbox.vm.image;

import blackbox.schemas.Hash;
import blackbox.vm.FileFingerprint;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.apt.LockDifference;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// A built image: three files and their record.
///
/// @param name as in its definition
/// @param digest over the three files and the kernel arguments, see [#digest]
/// @param folder where the files are
/// @param record the build's record
public record GuestImage(String name, Hash digest, Path folder, ImageRecord record) {
    /// The kernel, as QEMU's `-kernel` takes it.
    public static final String KERNEL = "vmlinuz";
    /// The initial file system: a part that belongs to the kernel and one with our guest files.
    public static final String INITRD = "initrd.img";
    /// The read-only root.
    public static final String ROOT = "root.erofs";

    /// The first part of the initrd, which belongs to the kernel.
    public static final String INITRD_BASE = "base.cpio";

    /// Their record.
    public static final String RECORD = "image.json";
    /// The three files.
    public static final List<String> FILES = List.of(KERNEL, INITRD, ROOT);

    /// What is stored beside the files, as `image.json`.
    ///
    /// @param format version of this form: 1
    /// @param files by name: the three, and `base.cpio`
    /// @param guestFiles path → SHA-256 of what the initrd carries; the contents are in the archive
    /// @param lockRenewed whether `lock` is not the shipped one, because that was not available or there was
    ///     none
    /// @param lockDifferences the packages in which it differs from the shipped one; missing in older records
    /// @param tools versions of what wrote bytes of the image
    public record ImageRecord(
            int format,
            String digest,
            String builtAt,
            ImageDefinition definition,
            ImageLock lock,
            Map<String, FileFingerprint> files,
            Map<String, String> guestFiles,
            boolean lockRenewed,
            @Nullable List<LockDifference> lockDifferences,
            Map<String, String> tools) {
        static final int FORMAT = 1;

        /// The differences; never null.
        @Override
        public List<LockDifference> lockDifferences() {
            return lockDifferences == null ? List.of() : lockDifferences;
        }

        public ImageRecord {
            files = new TreeMap<>(files);
            guestFiles = new TreeMap<>(guestFiles);
            tools = new TreeMap<>(tools);
            lockDifferences = lockDifferences == null ? List.of() : List.copyOf(lockDifferences);
            Hash.ofHex(digest);
            if (format != FORMAT || !files.keySet().containsAll(FILES)) {
                throw new IllegalArgumentException("image record: unknown format, or files are missing");
            }
            Instant.parse(builtAt);
        }
    }

    /// The path of one of the files.
    public Path file(String file) {
        return folder.resolve(file);
    }

    /// SHA-256 of one of the three files, or of [#INITRD_BASE], as built.
    public Hash sha256(String file) {
        FileFingerprint fingerprint = record.files().get(file);
        if (fingerprint == null) {
            throw new IllegalArgumentException("an image has no file '" + file + "'");
        }
        return Hash.ofHex(fingerprint.sha256());
    }

    /// Arguments for every boot of its kernel.
    public List<String> kernelArguments() {
        return record.definition().kernelArguments();
    }

    /// An initrd with this image's busybox and modules that runs `init`, a shell script, and nothing else:
    /// for trials of a machine, which need no root file system.
    public byte[] initrdRunning(byte[] init) throws VmException {
        var cpio = new Cpio();
        cpio.file("init", 0755, init);
        return initrd(cpio.finish());
    }

    private byte[] initrd(byte[] more) throws VmException {
        FileFingerprint base = record.files().get(INITRD_BASE);
        if (base == null || !base.holds(file(INITRD_BASE))) {
            throw new VmException(
                    Code.IMAGE_CORRUPT,
                    file(INITRD_BASE) + " is not the file that was built; run 'blackbox image build " + name + "'");
        }
        var initrd = new ByteArrayOutputStream();
        try {
            initrd.write(Files.readAllBytes(file(INITRD_BASE)));
        } catch (IOException e) {
            throw new VmException(Code.IMAGE_CORRUPT, file(INITRD_BASE) + " could not be read", e);
        }
        initrd.writeBytes(more);
        return initrd.toByteArray();
    }

    /// An initrd as this image's, with these guest files.
    public byte[] initrdWith(GuestFiles files) throws VmException {
        return initrd(files.archive());
    }

    /// Hashes the three files.
    ///
    /// @throws VmException `IMAGE_CORRUPT` when one is not what was built
    public void check() throws VmException {
        for (String file : FILES) {
            FileFingerprint fingerprint = record.files().get(file);
            if (fingerprint == null || !fingerprint.holds(file(file))) {
                throw new VmException(
                        Code.IMAGE_CORRUPT,
                        file(file) + " is not the file that was built; run 'blackbox image build " + name + "'");
            }
        }
    }

    /// The digest over the files and the kernel arguments in the record: equal to [#digest] unless someone
    /// has changed the record.
    public Hash recordedDigest() {
        return digest(new TreeMap<>(record.files()), kernelArguments());
    }

    /// The digest that names an image: SHA-256 of these lines, each ended by a line feed: `blackbox-image-v1`, then
    /// `NAME SHA256` for the three files, then `arguments` and the kernel arguments separated by spaces.
    static Hash digest(SortedMap<String, FileFingerprint> files, List<String> kernelArguments) {
        return Hash.sha256(digestText(files, kernelArguments).getBytes(StandardCharsets.UTF_8));
    }

    /// The text whose SHA-256 is [#digest]: with it, a single file of the image can be checked.
    public String digestText() {
        return digestText(new TreeMap<>(record.files()), kernelArguments());
    }

    private static String digestText(SortedMap<String, FileFingerprint> files, List<String> kernelArguments) {
        var text = new StringBuilder("blackbox-image-v1\n");
        for (String file : FILES) {
            FileFingerprint fingerprint = files.get(file);
            if (fingerprint == null) {
                throw new IllegalArgumentException("no " + file);
            }
            text.append(file).append(' ').append(fingerprint.sha256()).append('\n');
        }
        text.append("arguments ").append(String.join(" ", kernelArguments)).append('\n');
        return text.toString();
    }
}
