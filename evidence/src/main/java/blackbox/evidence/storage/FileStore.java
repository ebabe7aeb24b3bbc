package blackbox.evidence.storage;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Where sealed data files and their seals lie: on the local disk ([LocalStore]), or wherever whole files can
/// be put, read in ranges and listed, such as an object store.
///
/// A key is a relative path of names with `/` between them. A file is there whole or not at all, under one
/// key for ever: it is never changed and never renamed. Safe to use from several threads.
public interface FileStore {

    /// Stores a finished local file under a new key and takes it: it need not be there afterwards. When this
    /// returns, the stored file survives a power cut, and every later call sees it.
    ///
    /// @throws java.nio.file.FileAlreadyExistsException when there is a file under that key
    void put(String key, Path finished) throws IOException;

    /// Opens a file for reading. It can be read to its end even where it is deleted meanwhile, or that is an
    /// error.
    ///
    /// @throws java.nio.file.NoSuchFileException when there is none
    StoredFile open(String key) throws IOException;

    /// The names that keys have directly below `folder`, sorted; a name with further names below it ends in
    /// `/`. None where there is no such folder.
    List<String> list(String folder) throws IOException;

    /// Whether there is a file under that key.
    boolean exists(String key) throws IOException;

    /// Deletes a file; nothing where there is none.
    void delete(String key) throws IOException;

    /// What names the file to an engine that reads by itself: an absolute path, or a URI.
    String location(String key);

    /// The file on the local disk; null where the store keeps it elsewhere.
    @Nullable
    Path local(String key);
}
