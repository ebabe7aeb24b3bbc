package blackbox.replay.files;

import blackbox.evidence.store.Recordings;
import blackbox.query.run.RunFacts;
import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.replay.disk.DiskImage;
import blackbox.replay.fs.Ext4Tree;
import blackbox.replay.fs.FileType;
import blackbox.replay.fs.Inode;
import blackbox.replay.fs.MergedTree;
import blackbox.schemas.row.Text;
import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The files on a guest's writable disk after the end of what it ran: those that are not as its image has them. The
/// image beneath is the same in a run and in its replay, so it is not read. Owned by one thread.
public final class FilesAtEnd implements AutoCloseable {
    private final Ext4Tree tree;
    private final Inode top;
    private final @Nullable ScratchFolder scratch;

    private final ListedFolders listed = new ListedFolders();

    private FilesAtEnd(Ext4Tree tree, Inode top, @Nullable ScratchFolder scratch) {
        this.tree = tree;
        this.top = top;
        this.scratch = scratch;
    }

    /// Those of a recorded run; see [RecordedFiles#of].
    ///
    /// @throws ReplayException `ALTERED` when something is not what the run sealed, `ENGINE`
    /// @throws IOException when the run's events cannot be read
    public static RecordedFiles ofRun(Recordings recordings, RunFacts facts) throws ReplayException, IOException {
        return RecordedFiles.of(recordings, facts);
    }

    /// Those on a machine's disk.
    ///
    /// @param image a raw copy of it, as `Machine.copyDisk` makes one, which belongs to the caller; its journal is
    ///     replayed in place, as a kernel would
    /// @throws ReplayException `ENGINE` when it cannot be read
    public static FilesAtEnd ofImage(Path image) throws ReplayException {
        DiskImage.replayJournal(image);
        return in(image, null);
    }

    /// @param scratch deleted when this is closed, and by the caller if this fails
    static FilesAtEnd in(Path image, @Nullable ScratchFolder scratch) throws ReplayException {
        try {
            Ext4Tree tree = Ext4Tree.open(image);
            try {
                Inode top = MergedTree.upperRoot(tree);
                if (top == null) {
                    throw new ReplayException(
                            Code.ENGINE, "a guest left a disk that holds no folder for the guest's files");
                }
                return new FilesAtEnd(tree, top, scratch);
            } catch (IOException | ReplayException e) {
                tree.close();
                throw e;
            }
        } catch (IOException e) {
            throw new ReplayException(Code.ENGINE, "a guest left a disk that cannot be read: " + e.getMessage(), e);
        }
    }

    /// The octets of a file, whose length a guest chooses, or null if there is none of this path on the disk. The
    /// image beneath is not looked into.
    ///
    /// @param path from the guest's root, without symbolic links
    /// @throws IOException also when the tree contradicts itself
    public @Nullable InputStream open(Text path) throws IOException {
        Inode here = top;
        for (String part : path.toString().split("/")) {
            if (part.isEmpty()) {
                continue;
            }
            Long number = here.type() == FileType.FOLDER ? entries(here).get(Text.of(part)) : null;
            if (number == null) {
                return null;
            }
            here = tree.inode(number);
        }
        return here.type() == FileType.FILE ? tree.open(here) : null;
    }

    private Map<Text, Long> entries(Inode folder) throws IOException {
        Map<Text, Long> known = listed.of(folder.number());
        if (known == null) {
            known = tree.list(folder);
            listed.keep(folder.number(), known);
        }
        return known;
    }

    Ext4Tree tree() {
        return tree;
    }

    /// The folder that the guest has as `/`.
    Inode top() {
        return top;
    }

    @Override
    public void close() throws ReplayException {
        try {
            tree.close();
        } catch (IOException e) {
            throw new ReplayException(Code.ENGINE, "a guest's disk could not be closed", e);
        } finally {
            if (scratch != null) {
                delete(scratch);
            }
        }
    }

    static void delete(ScratchFolder scratch) throws ReplayException {
        try {
            scratch.close();
        } catch (VmException e) {
            throw new ReplayException(Code.ENGINE, String.valueOf(e.getMessage()), e);
        }
    }
}
