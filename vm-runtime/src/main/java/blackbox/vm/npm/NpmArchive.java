package blackbox.vm.npm;

import blackbox.vm.Json;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.zip.GZIPInputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.archivers.tar.TarConstants;
import org.jspecify.annotations.Nullable;

/// Unpacks a package's archive, a tar compressed by gzip, into a folder that has nothing of anybody else's in
/// it.
///
/// Only files and folders are taken, each to a place of its own below the folder: links, devices, pipes and
/// paths that lead out are refused. Of two files at the same place the latter counts, as with npm: such
/// archives exist. Modes become 0755 for what its author may execute and 0644 for the rest; owners and times
/// are not taken. As npm does, the first part of each path is left out.
public final class NpmArchive {
    private static final int ENTRIES_MAX = 200_000;
    private static final long CONTENT_BYTES_MAX = 4L << 30;
    private static final int PATH_BYTES_MAX = 3000;
    private static final int PART_BYTES_MAX = 255;
    private static final int DESCRIPTION_BYTES_MAX = 8 << 20;
    private static final int CHUNK_BYTES = 1 << 16;
    private static final int EXECUTABLE = 0111;
    private static final Set<String> SCRIPTS = Set.of("preinstall", "install", "postinstall");

    private final NpmPackage npmPackage;
    private final Path folder;
    private long content;
    private int entries;

    private NpmArchive(NpmPackage npmPackage, Path folder) {
        this.npmPackage = npmPackage;
        this.folder = folder;
    }

    /// Unpacks an archive into `folder`, which is created.
    ///
    /// @throws VmException `PACKAGE_REFUSED` when the archive is not acceptable, or the package has
    ///     install scripts that it was not allowed to do without
    public static void unpack(NpmPackage npmPackage, Path archive, Path folder) throws VmException {
        new NpmArchive(npmPackage, folder).unpack(archive);
    }

    private void unpack(Path archive) throws VmException {
        try {
            Files.createDirectories(folder);
        } catch (IOException e) {
            throw new VmException(Code.IO, folder + " could not be created", e);
        }
        try (var tar = new TarArchiveInputStream(
                new BufferedInputStream(new GZIPInputStream(Files.newInputStream(archive), CHUNK_BYTES), CHUNK_BYTES),
                StandardCharsets.UTF_8.name())) {
            for (TarArchiveEntry entry = tar.getNextEntry(); entry != null; entry = tar.getNextEntry()) {
                entry(entry, tar);
            }
        } catch (IOException | IllegalArgumentException e) {
            throw refused("it could not be unpacked", e);
        }
        checkScripts();
    }

    private void entry(TarArchiveEntry entry, InputStream in) throws IOException, VmException {
        require(++entries <= ENTRIES_MAX, "it has more than " + ENTRIES_MAX + " entries");
        require(
                !entry.isSymbolicLink() && !entry.isLink(),
                "it has a link, '" + entry.getName() + "'; an archive that npm makes has none");
        byte type = entry.getLinkFlag();
        // The library takes an entry of an unknown type for a file.
        boolean plain =
                type == TarConstants.LF_NORMAL || type == TarConstants.LF_OLDNORM || type == TarConstants.LF_DIR;
        require(
                plain && !entry.isSparse(),
                "'" + entry.getName() + "' is neither a file nor a folder, but of type " + type);
        Path place = place(entry.getName());
        if (entry.isDirectory()) {
            Files.createDirectories(place);
            return;
        }
        require(!place.equals(folder), "'" + entry.getName() + "' is in no folder");
        long size = entry.getSize();
        require(
                size >= 0 && size <= CONTENT_BYTES_MAX - content,
                "it has more than " + CONTENT_BYTES_MAX + " bytes of content");
        content += size;
        Files.createDirectories(place.getParent());
        require(!Files.isDirectory(place), "'" + entry.getName() + "' is a file and a folder");
        Files.deleteIfExists(place);
        write(place, in, size);
        Files.setPosixFilePermissions(
                place,
                PosixFilePermissions.fromString((entry.getMode() & EXECUTABLE) != 0 ? "rwxr-xr-x" : "rw-r--r--"));
    }

    private void write(Path place, InputStream in, long size) throws IOException, VmException {
        var chunk = new byte[CHUNK_BYTES];
        try (OutputStream out = Files.newOutputStream(place, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            for (long left = size; left > 0; ) {
                int n = in.read(chunk, 0, (int) Math.min(left, chunk.length));
                require(n > 0, "it ends in the middle of a file");
                out.write(chunk, 0, n);
                left -= n;
            }
        }
    }

    /// The path of an entry without its first part.
    private Path place(String name) throws VmException {
        require(
                !name.startsWith("/") && name.chars().noneMatch(each -> each < ' ' || each == '\uFFFD'),
                "'" + name + "' is not a path within it");
        require(name.length() <= PATH_BYTES_MAX, "it has a path of more than " + PATH_BYTES_MAX + " bytes");
        Path place = folder;
        boolean first = true;
        for (String part : name.split("/")) {
            if (part.isEmpty() || part.equals(".")) {
                continue;
            }
            require(!part.equals(".."), "'" + name + "' leads out of it");
            require(
                    part.getBytes(StandardCharsets.UTF_8).length <= PART_BYTES_MAX,
                    "it has a name of more than " + PART_BYTES_MAX + " bytes");
            place = first ? place : place.resolve(part);
            first = false;
        }
        return place;
    }

    /// The package's own description says what would be run, whatever the lock says.
    private void checkScripts() throws VmException {
        Path file = folder.resolve("package.json");
        try {
            if (!Files.isRegularFile(file)) {
                throw refused("it has no package.json", null);
            }
            require(Files.size(file) <= DESCRIPTION_BYTES_MAX, "its package.json is too large");
            String text = Files.readString(file);
            JsonNode description = Json.parse(text.startsWith("\uFEFF") ? text.substring(1) : text);
            boolean builds = Files.exists(folder.resolve("binding.gyp"))
                    && description.path("gypfile").asBoolean(true);
            JsonNode scripts = description.path("scripts");
            if (!npmPackage.scriptsLeftOut() && (builds || SCRIPTS.stream().anyMatch(scripts::has))) {
                throw new VmException(Code.PACKAGE_REFUSED, NpmLock.scripted(Set.of(npmPackage.name())));
            }
        } catch (JsonProcessingException e) {
            throw refused("its package.json is not JSON", e);
        } catch (IOException e) {
            throw refused("its package.json could not be read", e);
        }
    }

    private void require(boolean holds, String otherwise) throws VmException {
        if (!holds) {
            throw refused(otherwise, null);
        }
    }

    private VmException refused(String why, @Nullable Exception cause) {
        return new VmException(
                Code.PACKAGE_REFUSED, "the npm package " + npmPackage.spec() + " was refused: " + why, cause);
    }
}
