package blackbox.evidence.storage;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Where sealed data files and their seals are stored: on the local disk ([LocalStore]), or wherever whole
/// files can be put, read in ranges and listed, such as an object store.
///
/// A key is a relative path of names with `/` between them. A file exists completely or not at all, and
/// permanently under one key: it is never changed and never renamed. Safe to use from several threads.
public interface FileStore {

    /// Stores a finished local file under a new key and takes ownership of it: it may be gone afterwards.
    /// When this returns, the stored file survives a power cut, and every later call sees it.
    ///
    /// @throws java.nio.file.FileAlreadyExistsException when there already is a file under that key
    void put(String key, Path finished) throws IOException;

    /// Opens a file for reading. If it is deleted meanwhile, it stays readable to its end, or reading fails
    /// with an error.
    ///
    /// @throws java.nio.file.NoSuchFileException when there is none
    StoredFile open(String key) throws IOException;

    /// The names that keys have directly below `folder`, sorted; a name with further names below it ends in
    /// `/`. Empty if there is no such folder.
    List<String> list(String folder) throws IOException;

    /// Whether there is a file under that key.
    boolean exists(String key) throws IOException;

    /// Deletes a file; does nothing if there is none.
    void delete(String key) throws IOException;

    /// The file's location for an engine that reads by itself: an absolute path, or a URI.
    String location(String key);

    /// The file on the local disk; null if the store is elsewhere.
    @Nullable
    Path local(String key);
}
