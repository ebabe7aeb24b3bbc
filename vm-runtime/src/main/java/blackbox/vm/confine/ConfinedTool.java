package blackbox.vm.confine;

import blackbox.vm.Command;
import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// A program of the operating system's that reads what a guest, or a stranger, has written: in a [Box] with the
/// files that it needs, because what it reads may lead it to any other file, or take it over.
///
/// @param argv its name and arguments, with absolute paths
/// @param reads files that it reads
/// @param writes files that it writes; they exist
/// @param fileBytesMax how long they may become
public record ConfinedTool(List<String> argv, List<Path> reads, List<Path> writes, long fileBytesMax) {
    private static final String ERRORS = "errors";
    private static final int ERROR_BYTES = 4096;

    public ConfinedTool {
        argv = List.copyOf(argv);
        reads = List.copyOf(reads);
        writes = List.copyOf(writes);
    }

    /// Makes a raw image of a qcow2 image that has no other file under it.
    ///
    /// @param target a new file, which only this user can read
    public static void makeRaw(Path image, Path target, long bytesMax, Duration timeout) throws VmException {
        Path from = image.toAbsolutePath();
        Path to = target.toAbsolutePath();
        try {
            Files.createFile(to, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        } catch (IOException e) {
            throw new VmException(Code.IO, to + " could not be made", e);
        }
        var argv = List.of("qemu-img", "convert", "-f", "qcow2", "-O", "raw", from.toString(), to.toString());
        new ConfinedTool(argv, List.of(from), List.of(to), bytesMax).run(timeout);
    }

    /// Runs it to its end.
    ///
    /// @throws VmException `NOT_CONFINED`, `TOOL_MISSING`, `TOOL_FAILED` with the last line of its standard
    ///     error, `TIMEOUT`
    public void run(Duration timeout) throws VmException {
        try (var scratch = ScratchFolder.in(Path.of(System.getProperty("java.io.tmpdir")), "blackbox-tool-")) {
            Path folder = scratch.path().toRealPath();
            Box box = Box.in(folder).longestFile(fileBytesMax);
            for (Path each : reads) {
                box.readable(each);
            }
            for (Path each : writes) {
                box.writable(each);
            }
            run(box, argv, folder.resolve(ERRORS), timeout);
        } catch (IOException e) {
            throw new VmException(Code.IO, argv.getFirst() + " could not be run", e);
        }
    }

    /// Runs a tool to its end in a box that has its files.
    ///
    /// @param errors where its standard error goes
    /// @throws VmException as [#run(Duration)]
    public static void run(Box box, List<String> argv, Path errors, Duration timeout) throws VmException {
        String name = argv.getFirst();
        Path program = Command.find(name);
        if (program == null) {
            throw new VmException(
                    Code.TOOL_MISSING, "'" + name + "' is not installed; `blackbox doctor` says what to install");
        }
        var words = new ArrayList<>(argv);
        words.set(0, program.toString());
        Process process = box.libraries().installed(program).locks().start(words, errors);
        try {
            Thread.ofPlatform().daemon().start(() -> discard(process));
            if (!process.waitFor(timeout)) {
                throw new VmException(Code.TIMEOUT, name + " took longer than " + timeout.toSeconds() + " s");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VmException(Code.TIMEOUT, name + " was interrupted", e);
        } finally {
            process.destroyForcibly();
            box.end();
        }
        if (process.exitValue() != 0) {
            var failed = new VmException(Code.TOOL_FAILED, name + " ended with " + process.exitValue());
            throw Confinement.asReason(failed, said(errors));
        }
    }

    private static String said(Path errors) {
        try {
            return "it said: " + Tail.lastLine(errors, ERROR_BYTES);
        } catch (IOException e) {
            return "what it said could not be read";
        }
    }

    private static void discard(Process process) {
        try (InputStream said = process.getInputStream()) {
            said.transferTo(OutputStream.nullOutputStream());
        } catch (IOException e) {
            return; // it was killed
        }
    }
}
