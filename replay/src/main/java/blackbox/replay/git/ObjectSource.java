package blackbox.replay.git;

import blackbox.replay.content.Window;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The objects that one side wrote while it ran. Ids are 40 lower-case hexadecimal digits.
public interface ObjectSource {

    /// Ids of all that it wrote in files of their own, in that order.
    Set<String> written();

    /// When one was made, by the clock of its guest: from when the program that wrote it had begun, for git asks for
    /// the
    /// time once, until it was there. Several if it was written several times; empty if that is not known.
    List<Window> made(String id);

    /// When a file was written from which the content of an object came: the one of this path, without a slash at its
    /// beginning, in the working tree of where the commit was made. Null if that is not known.
    @Nullable
    Window fileWritten(String commit, String path) throws IOException;

    /// The object, or null if it is not there any more, or is not what its name says.
    @Nullable
    GitObject read(String id) throws IOException;
}
