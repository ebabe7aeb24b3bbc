package blackbox.vm.workspace;

import blackbox.schemas.Hash;
import blackbox.schemas.Sha256;
import blackbox.vm.BoundedInput;
import blackbox.vm.Command;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A raw disk of fixed length that holds one tar from its first byte on. The file is sparse.
///
/// @param file the disk
public record WorkspaceDisk(Path file) {
    /// Length of the disk, fixed so that every VM has the same devices: 16 GiB.
    public static final long LENGTH_BYTES = 16L << 30;

    private static final long ARCHIVE_BYTES_MAX = LENGTH_BYTES - (1 << 20);
    private static final Duration TIMEOUT = Duration.ofMinutes(30);
    private static final int CHUNK_BYTES = 256 << 10;
    private static final int AGENT = 1000;
    private static final long HOLE_BYTES_MIN = 64L << 20;
    private static final int BLOCK = 512;

    /// An empty disk.
    public static WorkspaceDisk create(Path file) throws VmException {
        try (var raw = new RandomAccessFile(file.toFile(), "rw")) {
            raw.setLength(LENGTH_BYTES);
            return new WorkspaceDisk(file);
        } catch (IOException e) {
            throw failure(file + " could not be made", e);
        }
    }

    /// The archive on a disk.
    ///
    /// @param bytes its length
    /// @param sha256 of those bytes
    public record Archive(long bytes, Hash sha256) {
        /// No archive: the workspace starts empty.
        public static final Archive NONE = new Archive(0, Hash.sha256(new byte[0]));
    }

    /// Writes `folder` to this disk: names sorted, owner the agent, times and permissions kept. The same tree gives
    /// the same bytes, provided that files with large holes have the same holes, because holes are not written out
    /// as zeros. Sockets are left out.
    ///
    /// @throws VmException `WORKSPACE_UNREADABLE`, `WORKSPACE_TOO_LARGE`, `DISK_FULL`
    public Archive pack(Path folder) throws VmException {
        if (!Files.isDirectory(folder)) {
            throw new VmException(
                    Code.WORKSPACE_UNREADABLE, "the workspace " + folder + " is not a folder; name one that exists");
        }
        var argv = new ArrayList<>(List.of(
                "tar",
                "-c",
                "-f",
                "-",
                "--format=posix",
                "--sort=name",
                "--numeric-owner",
                "--owner=" + AGENT,
                "--group=" + AGENT,
                "--pax-option=delete=atime,delete=ctime",
                "-C",
                folder.toString()));
        if (hasLargeHoles(folder)) {
            // The newer forms of a sparse entry contain tar's process id.
            argv.addAll(List.of("--sparse", "--sparse-version=0.0"));
        }
        argv.add(".");
        var errors = file.resolveSibling("workspace-in.log");
        Process tar = start(argv, errors);
        try (var from = tar.getInputStream()) {
            Archive archive = copy(from);
            finish(tar, errors, "the workspace " + folder + " could not be read");
            return archive;
        } catch (IOException e) {
            throw failure("the workspace could not be written to " + file, e);
        } finally {
            tar.destroyForcibly();
        }
    }

    /// Whether a file takes much less space than its length, such as a disk image: writing out its zeros would take
    /// minutes.
    private static boolean hasLargeHoles(Path folder) {
        try {
            String files = "-size +" + (HOLE_BYTES_MIN >> 10) + "k";
            return Command.of(
                            "sh", "-c", "exec find \"$0\" -type f " + files + " -printf '%s %b\\n'", folder.toString())
                    .within(TIMEOUT)
                    .run()
                    .lines()
                    .map(line -> line.split(" ", -1))
                    .anyMatch(words -> Long.parseLong(words[0]) - Long.parseLong(words[1]) * BLOCK > HOLE_BYTES_MIN);
        } catch (VmException e) {
            return false; // tar gives a better message about what cannot be read
        }
    }

    /// Writes an archive that [#copyOut] made to this disk.
    public Archive copy(Path archive) throws VmException {
        try (var from = Files.newInputStream(archive)) {
            return copy(from);
        } catch (IOException e) {
            throw failure("the workspace archive " + archive + " could not be copied to " + file, e);
        }
    }

    /// Writes the first `bytes` of this disk to `target`, a new file that only this user can read.
    public void copyOut(long bytes, Path target) throws VmException {
        var mode = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
        try (var from = FileChannel.open(file);
                var to = FileChannel.open(
                        target, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), mode)) {
            for (long at = 0; at < bytes; ) {
                long moved = from.transferTo(at, bytes - at, to);
                if (moved <= 0) {
                    throw new IOException("the disk ends at " + at);
                }
                at += moved;
            }
        } catch (IOException e) {
            throw failure("the workspace archive could not be stored as " + target, e);
        }
    }

    /// Writes the guest's archive, the first `bytes` of this disk, as files into `target`, a folder that must not
    /// exist.
    ///
    /// @throws VmException `WORKSPACE_REFUSED` when the archive is not one that our guest would write
    public Unpacked unpack(long bytes, Path target, TarFilter.Limits limits) throws VmException {
        if (bytes < 0 || bytes > LENGTH_BYTES) {
            throw new VmException(Code.WORKSPACE_REFUSED, "the guest claims a workspace of " + bytes + " bytes");
        }
        try {
            Files.createDirectory(target);
            var errors = file.resolveSibling("workspace-out.log");
            Process tar = start(
                    List.of(
                            "tar",
                            "-x",
                            "-f",
                            "-",
                            "-C",
                            target.toString(),
                            "--no-same-owner",
                            "-p",
                            "--keep-old-files"),
                    errors);
            MessageDigest digest = Sha256.digest();
            try (var raw = Files.newInputStream(file);
                    var bounded = new DigestInputStream(new BoundedInput(raw, bytes), digest)) {
                var filter = new TarFilter(limits);
                try (OutputStream to = tar.getOutputStream()) {
                    filter.copy(new BufferedInputStream(bounded, CHUNK_BYTES), to);
                } catch (IOException e) {
                    finish(tar, errors, "the workspace could not be written to " + target);
                    throw e;
                }
                bounded.transferTo(OutputStream.nullOutputStream());
                finish(tar, errors, "the workspace could not be written to " + target);
                return new Unpacked(
                        new Archive(bytes, Hash.copyOf(digest.digest(), 0)),
                        filter.entries(),
                        filter.leftOut(),
                        names(filter));
            } finally {
                tar.destroyForcibly();
            }
        } catch (IOException e) {
            throw failure("the workspace could not be written to " + target, e);
        }
    }

    /// The workspace that came back.
    ///
    /// @param archive as the guest wrote it
    /// @param entries how many files, folders and links were made
    /// @param leftOut how many entries were not files, folders or links (devices, pipes) and were left out
    /// @param namesLeftOut the first of these
    public record Unpacked(Archive archive, long entries, long leftOut, List<String> namesLeftOut) {
        /// A notice about the entries that were left out, or null.
        public @Nullable String notice() {
            if (leftOut == 0) {
                return null;
            }
            String more = leftOut > namesLeftOut.size() ? ", …" : "";
            return "only files, folders and links are copied back; left out: " + leftOut
                    + (leftOut == 1 ? " pipe or device (" : " pipes or devices (")
                    + String.join(", ", namesLeftOut) + more + ")";
        }
    }

    /// The name as text, with nothing in it that could control a terminal.
    private static List<String> names(TarFilter filter) {
        return filter.namesLeftOut().stream()
                .map(each -> new String(each.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8)
                        .replaceAll("\\p{Cntrl}", "?"))
                .toList();
    }

    /// Writes the whole archive `from` to this disk.
    Archive copy(InputStream from) throws IOException, VmException {
        MessageDigest digest = Sha256.digest();
        var chunk = new byte[CHUNK_BYTES];
        long length = 0;
        try (var disk = new RandomAccessFile(file.toFile(), "rw")) {
            for (int n = from.readNBytes(chunk, 0, chunk.length); n > 0; n = from.readNBytes(chunk, 0, chunk.length)) {
                if (length + n > ARCHIVE_BYTES_MAX) {
                    throw new VmException(
                            Code.WORKSPACE_TOO_LARGE,
                            "the workspace is larger than " + ARCHIVE_BYTES_MAX + " bytes; choose a smaller folder");
                }
                digest.update(chunk, 0, n);
                disk.write(chunk, 0, n);
                length += n;
            }
        }
        return new Archive(length, Hash.copyOf(digest.digest(), 0));
    }

    private static Process start(List<String> argv, Path errors) throws VmException {
        return new Command(argv, null, Map.of(), TIMEOUT).start(errors);
    }

    private static void finish(Process tar, Path errors, String what) throws VmException {
        try {
            if (!tar.waitFor(TIMEOUT)) {
                throw new VmException(Code.TIMEOUT, what + ": tar took longer than " + TIMEOUT.toMinutes() + " min");
            }
            // 1 means "some files differ": a file changed while it was read, and the archive has what was
            // read of it.
            if (tar.exitValue() > 1) {
                String last = Files.readAllLines(errors).stream()
                        .filter(line -> !line.contains("Exiting with failure"))
                        .reduce((a, b) -> b)
                        .orElse("tar ended with " + tar.exitValue());
                boolean full = last.contains("No space left");
                throw new VmException(full ? Code.DISK_FULL : Code.WORKSPACE_UNREADABLE, what + ": " + last);
            }
        } catch (IOException e) {
            throw failure(what, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VmException(Code.TIMEOUT, what + ": interrupted", e);
        }
    }

    private static VmException failure(String what, IOException e) {
        String message = String.valueOf(e.getMessage()).toLowerCase(Locale.ROOT);
        return new VmException(message.contains("no space left") ? Code.DISK_FULL : Code.IO, what, e);
    }
}
