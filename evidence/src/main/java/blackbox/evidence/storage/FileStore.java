package blackbox.evidence.storage;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Where sealed data files and their seals are stored: on the local disk ([LocalStore]), or wherever whole
/// files can be put, read in ranges and listed, such as an object store.
///
/// A key is a relative path of names with `/` between them, such as `blackbox/events/data/run=…/….parquet`: names
/// may hold whatever a folder's may, `=` among them. A file exists completely or not at all, and permanently under
/// one key: it is never changed and never renamed by us. Somebody else may replace it, and [#version] shows that.
/// Safe to use from several threads.
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

    /// What identifies the present content under a key: it is another one as soon as the file was replaced, by
    /// whomever and by whatever way, even by one of the same length; it stays the same while the file does. The
    /// file's change time with its inode and length, an entity tag, or a version's number. Reads none of the
    /// content.
    ///
    /// @throws java.nio.file.NoSuchFileException when there is no file
    String version(String key) throws IOException;

    /// The file's location for an engine that reads by itself: an absolute path, or a URI. It ends in the key as it
    /// is, with nothing escaped: an engine finds names such as `run=…` in it.
    String location(String key);

    /// The file on the local disk; null if the store is elsewhere.
    @Nullable
    Path local(String key);
}
