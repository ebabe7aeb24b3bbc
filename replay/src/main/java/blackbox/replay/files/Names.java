package blackbox.replay.files;

import blackbox.schemas.row.Text;

/// Which names of files stand for each other, such as those that a program makes up for its temporary files.
@FunctionalInterface
public interface Names {
    /// None do.
    Names NONE = (recorded, actual) -> false;

    /// Whether a name in the replay stands for one in the recording.
    ///
    /// @param recordedPath from the guest's root, such as `/workspace/a/tmp.X1`
    /// @param actualPath the same in the replay; folders above may stand for others already
    boolean standFor(Text recordedPath, Text actualPath);
}
