package blackbox.vm.workspace;

import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/// The initial content of a machine's workspace.
public sealed interface WorkspaceSource {

    /// Writes it to a machine's disk.
    WorkspaceDisk.Archive writeTo(WorkspaceDisk disk) throws VmException;

    /// A folder, or an archive that an earlier machine was given.
    record Given(Path path) implements WorkspaceSource {
        @Override
        public WorkspaceDisk.Archive writeTo(WorkspaceDisk disk) throws VmException {
            return Files.isRegularFile(path) ? disk.copy(path) : disk.pack(path);
        }
    }

    /// An archive that is stored elsewhere and in another form.
    ///
    /// @param name for people
    record Kept(String name, Opener opener) implements WorkspaceSource {
        @Override
        public WorkspaceDisk.Archive writeTo(WorkspaceDisk disk) throws VmException {
            try (InputStream archive = opener.open()) {
                return disk.copy(archive);
            } catch (IOException e) {
                throw new VmException(Code.IO, "the workspace archive " + name + " could not be read", e);
            }
        }
    }

    /// Opens an archive, each time from its first octet.
    @FunctionalInterface
    interface Opener {
        InputStream open() throws IOException;
    }
}
