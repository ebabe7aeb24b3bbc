package blackbox.vm.qemu;

import blackbox.schemas.Hash;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.Command;
import blackbox.vm.FileFingerprint;
import blackbox.vm.Json;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.confine.Box;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A QEMU that can be started.
///
/// @param place the installed program, or the folder of an unpacked build
/// @param kind which of the two
/// @param version the first line of its own report
/// @param digest of the installed program, or over the whole unpacked folder
/// ([blackbox.vm.FolderFingerprint#hash])
public record Qemu(Path place, Kind kind, String version, Hash digest) {
    private static final Pattern VERSION = Pattern.compile("version (\\d{1,4})\\.(\\d{1,4})");
    private static final String PROGRAM = "qemu-system-x86_64";

    /// What a machine's QEMU may not do, as `-sandbox` takes it.
    public static final String SANDBOX = "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny";

    /// Where a QEMU comes from.
    public enum Kind {
        /// The machine's own, with the machine's libraries: its digest covers only the program.
        INSTALLED,
        /// Debian's, unpacked with every library that it needs, and run through its own loader.
        UNPACKED
    }

    /// Finds the installed QEMU. The digest is cached below `data` as long as the file seems unchanged.
    ///
    /// @throws VmException `QEMU_MISSING`
    public static Qemu find(Path data) throws VmException {
        return find(data, PROGRAM);
    }

    static Qemu find(Path data, String program) throws VmException {
        Path binary = Command.find(program);
        if (binary == null) {
            throw new VmException(
                    Code.QEMU_MISSING, program + " is not installed; on Debian: apt-get install qemu-system-x86");
        }
        Path note = new DataFolder(data).cache().resolve("qemu.json");
        Known known = Json.cached(note, Known.class);
        if (known == null
                || !known.binary().equals(binary.toString())
                || !known.fingerprint().seemsUnchanged(binary)) {
            known = new Known(binary.toString(), version(List.of(binary.toString())), FileFingerprint.of(binary));
            try {
                Files.createDirectories(note.getParent());
            } catch (IOException e) {
                throw new VmException(Code.IO, note.getParent() + " could not be made", e);
            }
            Json.write(note, known);
        }
        return new Qemu(
                binary,
                Kind.INSTALLED,
                known.version(),
                Hash.ofHex(known.fingerprint().sha256()));
    }

    private record Known(String binary, String version, FileFingerprint fingerprint) {}

    /// The words of a command line before QEMU's own arguments.
    public List<String> program() {
        return program(place.toString());
    }

    /// The same for a process in whose folder `link` leads to [#place]: the words of an unpacked build are then
    /// the same on every host. An installed QEMU is still named by its path.
    public List<String> program(String link) {
        return switch (kind) {
            case INSTALLED -> List.of(place.toString());
            case UNPACKED -> unpacked(link);
        };
    }

    /// How an unpacked QEMU is started. The loader's cache and its default libraries are the host's: neither
    /// is used.
    static List<String> unpacked(String root) {
        String libraries = root + "/usr/lib/x86_64-linux-gnu";
        return List.of(
                libraries + "/ld-linux-x86-64.so.2",
                "--inhibit-cache",
                "--library-path",
                libraries,
                root + "/usr/bin/" + PROGRAM,
                "-L",
                root + "/usr/share/qemu",
                "-L",
                root + "/usr/share/seabios");
    }

    /// Whether it can open a file for reading only and still use it as RAM that the guest may write: from 8.2
    /// on.
    public boolean opensRamReadOnly() {
        Matcher found = VERSION.matcher(version);
        if (!found.find()) {
            return false;
        }
        int major = Integer.parseInt(found.group(1));
        return major > 8 || major == 8 && Integer.parseInt(found.group(2)) >= 2;
    }

    /// Lets a confined process run it.
    ///
    /// @throws VmException `NOT_CONFINED`
    public void open(Box box) throws VmException {
        switch (kind) {
            case INSTALLED -> {
                box.libraries().installed(place);
                for (Path prefix : List.of(Path.of("/usr"), Path.of("/usr/local"))) {
                    box.installed(prefix.resolve("share/qemu")).installed(prefix.resolve("share/seabios"));
                }
            }
            case UNPACKED -> box.readable(place);
        }
    }

    static String version(List<String> program) throws VmException {
        var words = new java.util.ArrayList<>(program);
        words.add("--version");
        return Command.of(words.toArray(String[]::new))
                .run()
                .lines()
                .findFirst()
                .orElse("");
    }
}
