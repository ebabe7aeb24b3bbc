package blackbox.vm.npm;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.TreeMap;
import java.util.zip.GZIPOutputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.apache.commons.compress.archivers.tar.TarConstants;

/// The archive of an npm package, with whatever a test wants in it.
public final class TestArchive {
    private final ByteArrayOutputStream octets = new ByteArrayOutputStream();
    private final TarArchiveOutputStream tar;

    public TestArchive() throws IOException {
        tar = new TarArchiveOutputStream(new GZIPOutputStream(octets), StandardCharsets.UTF_8.name());
        tar.setLongFileMode(TarArchiveOutputStream.LONGFILE_POSIX);
    }

    /// One with a description, and a program that prints `says`.
    public static TestArchive of(String name, String version, String says) throws IOException {
        return new TestArchive()
                .file("package/package.json", 0644, "{\"name\":\"" + name + "\",\"version\":\"" + version + "\"}")
                .file("package/bin/run.sh", 0644, "#!/bin/sh\necho " + says + "\n");
    }

    public TestArchive file(String path, int mode, String content) throws IOException {
        byte[] text = content.getBytes(StandardCharsets.UTF_8);
        var entry = new TarArchiveEntry(path, true);
        entry.setMode(mode);
        entry.setSize(text.length);
        tar.putArchiveEntry(entry);
        tar.write(text);
        tar.closeArchiveEntry();
        return this;
    }

    /// An entry without content.
    public TestArchive special(String path, byte type, String target) throws IOException {
        var entry = new TarArchiveEntry(path, type, true);
        if (type == TarConstants.LF_SYMLINK || type == TarConstants.LF_LINK) {
            entry.setLinkName(target);
        }
        tar.putArchiveEntry(entry);
        tar.closeArchiveEntry();
        return this;
    }

    public byte[] octets() throws IOException {
        tar.close();
        return octets.toByteArray();
    }

    /// As a lock has it.
    public static String integrity(byte[] archive) throws Exception {
        return "sha512-"
                + Base64.getEncoder()
                        .encodeToString(MessageDigest.getInstance("SHA-512").digest(archive));
    }

    /// A package of this archive, at the tree's top.
    public static NpmPackage npmPackage(String name, byte[] archive) throws Exception {
        return new NpmPackage("node_modules/" + name, name, "1.0.0", integrity(archive), new TreeMap<>(), true, false);
    }
}
