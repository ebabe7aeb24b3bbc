package blackbox.replay.files;

import blackbox.schemas.row.Text;
import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/// Which names of files stand for each other, such as those that a program makes up for its temporary files.
@FunctionalInterface
public interface Names {
    /// None do.
    Names NONE = (recorded, actual) -> false;

    /// Whether a name in the replay stands for one in the recording.
    ///
    /// @param recordedPath from the guest's root, such as `/workspace/a/tmp.X1`
    /// @param actualPath the same in the replay; folders above may stand for others already
    boolean standFor(Text recordedPath, Text actualPath) throws IOException;

    /// Is told that two such names were put together: each stands for no other one.
    default void paired(Text recordedPath, Text actualPath) throws IOException {}

    /// Whether a folder may hold files that are the same though they are in different ones of its subfolders, each
    /// named by two hexadecimal digits: git's objects.
    default boolean mayBeFannedOut(Text recordedPath) {
        return false;
    }

    /// The name in the replay of a file that stands for a recorded one; null if none does.
    ///
    /// @param recordedName in a folder that may be fanned out, with its subfolder, such as `5b/f36e…`
    default @Nullable Text sameAs(Text recordedName) {
        return null;
    }

    /// Whether [#areSame] may be true of a file of that name, so that the path of another one is not put together.
    default boolean mayBeSame(Text recordedName) {
        return false;
    }

    /// Whether two files are known to be the same, though their octets differ, and how many they are: git's packs.
    default boolean areSame(Text recordedPath, Text actualPath) {
        return false;
    }

    /// Whether each side wrote a file, of one path, at one of its times.
    ///
    /// @param recordedNs when the recorded one was last modified, nanoseconds since 1970
    /// @param actualNs the same of the replay
    default boolean wereWritten(Text path, long recordedNs, long actualNs) throws IOException {
        return false;
    }

    /// Whether two such files hold what their names say.
    ///
    /// @param recorded the whole content, at its start; the caller closes it
    /// @param actual the same of the replay
    default boolean holdWhatTheyAreNamedFor(
            Text recordedName, InputStream recorded, Text actualName, InputStream actual) throws IOException {
        return false;
    }
}
