package blackbox.cli.export;

import blackbox.cli.exit.CommandException;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// Where an export goes: a new file, or standard output.
///
/// @param file null for standard output
record Destination(@Nullable Path file) {

    private static final Path STANDARD_OUTPUT = Path.of("-");

    /// Writes octets, and returns what there is to say about them.
    @FunctionalInterface
    interface Body<T, E extends Exception> {
        T write(OutputStream to) throws IOException, E;
    }

    /// @param named what the user named, `-` for standard output, or null
    /// @param json whether the answer's JSON is to be on standard output
    static Destination of(@Nullable Path named, Path otherwise, boolean json) {
        boolean standard = STANDARD_OUTPUT.equals(named);
        if (standard && json) {
            throw CommandException.badInput(
                    "--out - writes the export to standard output, so --json cannot be there, too");
        }
        return new Destination(standard ? null : named == null ? otherwise : named);
    }

    /// Writes a file for its owner alone, since what an agent saw may be secret: whole, or not at all.
    <T, E extends Exception> T write(Body<T, E> body) throws IOException, E {
        return file == null ? toOutput(body) : toFile(file, body);
    }

    private static <T, E extends Exception> T toOutput(Body<T, E> body) throws IOException, E {
        PrintStream out = System.out;
        T said = body.write(out);
        if (out.checkError()) {
            throw CommandException.failed("standard output was closed before all of it was written", null);
        }
        return said;
    }

    /// Refuses a file that is there already or has no folder, before the work is done.
    void requireFree() {
        if (file != null) {
            requireFree(file);
        }
    }

    /// @return the file's folder
    private static Path requireFree(Path file) {
        if (Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
            throw exists(file);
        }
        Path folder = file.toAbsolutePath().getParent();
        if (folder == null || !Files.isDirectory(folder)) {
            throw CommandException.badInput("there is no folder " + folder + " for " + file);
        }
        return folder;
    }

    private static <T, E extends Exception> T toFile(Path file, Body<T, E> body) throws IOException, E {
        Path folder = requireFree(file);
        Path part = Files.createTempFile(folder, "." + file.getFileName() + ".", ".part");
        part.toFile().deleteOnExit(); // also when it is interrupted
        try {
            T said;
            try (OutputStream to = new BufferedOutputStream(Files.newOutputStream(part))) {
                said = body.write(to);
            }
            place(part, file);
            return said;
        } catch (FileAlreadyExistsException _) {
            throw exists(file);
        } finally {
            Files.deleteIfExists(part);
        }
    }

    /// Never over another file that came meanwhile, where the file system knows links.
    private static void place(Path part, Path file) throws IOException {
        try {
            Files.createLink(file, part);
        } catch (FileAlreadyExistsException e) {
            throw e;
        } catch (UnsupportedOperationException | FileSystemException _) {
            Files.move(part, file);
        }
    }

    private static CommandException exists(Path file) {
        return CommandException.badInput(file + " already exists; choose another file with --out");
    }
}
