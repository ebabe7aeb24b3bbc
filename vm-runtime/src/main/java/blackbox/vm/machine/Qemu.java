package blackbox.vm.machine;

import blackbox.schemas.Hash;
import blackbox.vm.Command;
import blackbox.vm.FileSeal;
import blackbox.vm.Json;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// The QEMU on this machine.
///
/// @param binary where it is
/// @param version what it says of itself, first line
/// @param sha256 of the binary
public record Qemu(Path binary, String version, Hash sha256) {
    private static final String PROGRAM = "qemu-system-x86_64";

    /// Finds QEMU. The digest is remembered below `data` for as long as the file seems unchanged.
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
        Path note = data.resolve("cache").resolve("qemu.json");
        Known known = Files.exists(note) ? Json.read(note, Known.class, Code.IO) : null;
        if (known == null
                || !known.binary().equals(binary.toString())
                || !known.seal().seemsUnchanged(binary)) {
            String version = Command.of(binary.toString(), "--version")
                    .run()
                    .lines()
                    .findFirst()
                    .orElse("");
            known = new Known(binary.toString(), version, FileSeal.of(binary));
            try {
                Files.createDirectories(note.getParent());
            } catch (IOException e) {
                throw new VmException(Code.IO, note.getParent() + " could not be made", e);
            }
            Json.write(note, known);
        }
        return new Qemu(binary, known.version(), Hash.ofHex(known.seal().sha256()));
    }

    private record Known(String binary, String version, FileSeal seal) {}
}
