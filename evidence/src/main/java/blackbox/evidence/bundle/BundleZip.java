package blackbox.evidence.bundle;

import java.io.BufferedOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.util.Arrays;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipException;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

/// The one canonical ZIP of a set of files: entries in the order of their names, stored uncompressed, with
/// the same time, and nothing else. So a reader can make it again and compare octets, which leaves no room
/// for anything that one program sees and another does not.
final class BundleZip {

    /// A month after the first date that a ZIP can hold: for the first one Java writes extra fields.
    private static final LocalDateTime TIME = LocalDateTime.of(1980, 2, 1, 0, 0);
    private static final int BUFFER_BYTES = 1 << 16;

    private BundleZip() {}

    /// Writes the files to `out`, which stays open.
    static void write(SortedMap<String, Path> files, OutputStream out) throws IOException {
        var zip = new ZipOutputStream(out);
        for (var file : files.entrySet()) {
            var entry = new ZipEntry(file.getKey());
            entry.setMethod(ZipEntry.STORED);
            entry.setTimeLocal(TIME);
            entry.setSize(Files.size(file.getValue()));
            entry.setCrc(crc(file.getValue()));
            zip.putNextEntry(entry);
            Files.copy(file.getValue(), zip);
            zip.closeEntry();
        }
        zip.finish();
    }

    private static long crc(Path file) throws IOException {
        var crc = new CRC32();
        var buffer = new byte[BUFFER_BYTES];
        try (InputStream in = Files.newInputStream(file)) {
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                crc.update(buffer, 0, n);
            }
        }
        return crc.getValue();
    }

    /// Unpacks `zip` below `folder`, which must be empty and belong to the caller.
    ///
    /// @throws MalformedBundleException if it is not the canonical ZIP of its files
    static void unpack(Path zip, Path folder) throws IOException, MalformedBundleException {
        ZipEnd.check(zip);
        try (var file = new ZipFile(zip.toFile())) {
            long left = Files.size(zip);
            var files = new TreeMap<String, Path>();
            if (file.size() > BundleLayout.FILES_MAX) {
                throw new MalformedBundleException("it has more than " + BundleLayout.FILES_MAX + " files");
            }
            for (ZipEntry entry : Collections.list(file.entries())) {
                Path target = folder.resolve(name(entry));
                if (files.put(entry.getName(), target) != null) {
                    throw new MalformedBundleException(entry.getName() + " is in it twice");
                }
                left -= entry.getSize();
                if (left < 0) { // several entries may have the same octets
                    throw new MalformedBundleException("its files together are longer than the ZIP");
                }
                Files.createDirectories(target.resolveSibling("."));
                try (InputStream in = file.getInputStream(entry)) {
                    Files.copy(in, target);
                }
            }
            if (!isTheOneOf(files, zip)) {
                throw new MalformedBundleException("the ZIP holds something besides its files");
            }
        } catch (FileAlreadyExistsException e) {
            throw new MalformedBundleException("the names of two of its files conflict", e);
        } catch (ZipException | EOFException e) {
            throw new MalformedBundleException("it cannot be read as a ZIP: " + e.getMessage(), e);
        }
    }

    /// Stored entries only: what is unpacked of one is as long as the ZIP says.
    private static String name(ZipEntry entry) throws MalformedBundleException {
        if (!BundleLayout.isName(entry.getName())) {
            throw new MalformedBundleException("a file in it has a name that a bundle does not have");
        }
        if (entry.getMethod() != ZipEntry.STORED || entry.getSize() != entry.getCompressedSize()) {
            throw new MalformedBundleException(entry.getName() + " is not stored uncompressed");
        }
        return entry.getName();
    }

    private static boolean isTheOneOf(SortedMap<String, Path> files, Path zip) throws IOException {
        try (InputStream given = Files.newInputStream(zip);
                var comparing = new Comparing(given);
                var buffered = new BufferedOutputStream(comparing, BUFFER_BYTES)) {
            write(files, buffered);
            buffered.flush();
            return comparing.same && given.read() < 0;
        }
    }

    /// Compares the octets written to it with those of a stream.
    private static final class Comparing extends OutputStream {

        private final InputStream other;
        private boolean same = true;

        Comparing(InputStream other) {
            this.other = other;
        }

        @Override
        public void write(int octet) throws IOException {
            write(new byte[] {(byte) octet}, 0, 1);
        }

        @Override
        public void write(byte[] octets, int from, int length) throws IOException {
            byte[] there = other.readNBytes(length);
            same &= Arrays.equals(there, 0, there.length, octets, from, from + length);
        }
    }
}
