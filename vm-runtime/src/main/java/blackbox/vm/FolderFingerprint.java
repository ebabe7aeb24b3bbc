package blackbox.vm;

import blackbox.schemas.Hash;
import blackbox.vm.VmException.Code;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/// The state of a folder when it was hashed: like [FileFingerprint], for everything below it.
///
/// @param sha256 over names, kinds and contents, see [#hash]
/// @param shape over names, lengths and times: a cheap check that nothing seems to have changed
public record FolderFingerprint(String sha256, String shape) {
    public FolderFingerprint {
        Hash.ofHex(sha256);
        Hash.ofHex(shape);
    }

    /// Hashes everything below `folder`.
    public static FolderFingerprint of(Path folder) throws VmException {
        return new FolderFingerprint(hash(folder).toString(), shape(folder).toString());
    }

    /// Whether the metadata of everything below `folder` is still the same. Reads no content.
    public boolean seemsUnchanged(Path folder) throws VmException {
        return Files.isDirectory(folder) && shape(folder).toString().equals(shape);
    }

    /// Whether everything below `folder` still has this digest.
    public boolean holds(Path folder) throws VmException {
        return Files.isDirectory(folder) && hash(folder).toString().equals(sha256);
    }

    /// SHA-256 of these lines, each ended by a line feed, sorted by path: `PATH SHA256` for a file, `PATH ->
    /// TARGET` for a link; a program has a `*` before its path. The path is relative to `folder`.
    public static Hash hash(Path folder) throws VmException {
        try {
            var text = new StringBuilder();
            for (Path each : files(folder)) {
                String path = folder.relativize(each).toString();
                if (Files.isSymbolicLink(each)) {
                    text.append(path).append(" -> ").append(Files.readSymbolicLink(each));
                } else {
                    text.append(
                            Files.getPosixFilePermissions(each).contains(PosixFilePermission.OWNER_EXECUTE) ? "*" : "");
                    text.append(path).append(' ').append(FileFingerprint.hash(each));
                }
                text.append('\n');
            }
            return Hash.sha256(text.toString().getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new VmException(Code.IO, "could not hash " + folder, e);
        }
    }

    private static Hash shape(Path folder) throws VmException {
        try {
            var text = new StringBuilder();
            for (Path each : files(folder)) {
                var facts = Files.readAttributes(each, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
                text.append(folder.relativize(each))
                        .append(' ')
                        .append(facts.size())
                        .append(' ')
                        .append(facts.lastModifiedTime().to(TimeUnit.NANOSECONDS))
                        .append(' ')
                        .append(facts.fileKey())
                        .append('\n');
            }
            return Hash.sha256(text.toString().getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new VmException(Code.IO, "could not access " + folder, e);
        }
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(each -> !Files.isDirectory(each, LinkOption.NOFOLLOW_LINKS))
                    .sorted()
                    .toList();
        }
    }
}
