package blackbox.vm;

import blackbox.vm.VmException.Code;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// A temporary folder that is deleted when this is closed.
///
/// @param path the folder
public record ScratchFolder(Path path) implements AutoCloseable {

    /// A fresh folder in `parent`, which is created if it is missing.
    public static ScratchFolder in(Path parent, String prefix) throws VmException {
        try {
            Files.createDirectories(parent);
            return new ScratchFolder(Files.createTempDirectory(parent, prefix));
        } catch (IOException e) {
            throw new VmException(Code.IO, "no folder could be created in " + parent, e);
        }
    }

    /// A fresh folder whose name says which process it belongs to. Folders with this prefix that killed processes
    /// left behind are deleted first, since they may hold what a run saw.
    public static ScratchFolder ofThisProcess(Path parent, String prefix) throws VmException {
        Pattern name = Pattern.compile(Pattern.quote(prefix) + "(\\d{1,10})-.*");
        try {
            Files.createDirectories(parent);
            try (Stream<Path> all = Files.list(parent)) {
                for (Path each : all.toList()) {
                    Matcher owner = name.matcher(String.valueOf(each.getFileName()));
                    if (owner.matches()
                            && ProcessHandle.of(Long.parseLong(owner.group(1))).isEmpty()) {
                        delete(each);
                    }
                }
            }
        } catch (IOException e) {
            throw new VmException(Code.IO, parent + " could not be listed", e);
        }
        return in(parent, prefix + ProcessHandle.current().pid() + "-");
    }

    @Override
    public void close() throws VmException {
        delete(path);
    }

    /// Deletes the folders with this prefix that crashed processes left in `parent`. The caller ensures that none
    /// is in use.
    public static void clear(Path parent, String prefix) throws VmException {
        try (Stream<Path> all = Files.list(parent)) {
            for (Path each : all.toList()) {
                if (String.valueOf(each.getFileName()).startsWith(prefix)) {
                    delete(each);
                }
            }
        } catch (IOException e) {
            throw new VmException(Code.IO, parent + " could not be listed", e);
        }
    }

    /// Deletes `path` and everything below it, following no links; does nothing if it does not exist.
    public static void delete(Path path) throws VmException {
        if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        try (Stream<Path> all = Files.walk(path)) {
            for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(each);
            }
        } catch (IOException e) {
            throw new VmException(Code.IO, path + " could not be deleted", e);
        }
    }
}
