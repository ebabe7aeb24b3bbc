package blackbox.evidence.storage;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// Files as an object store keeps them, in memory: whole objects under keys, no folders, no rename, no local
/// path. Fails where a key is written twice.
public final class MemoryStore implements FileStore {

    private final ConcurrentSkipListMap<String, Stored> objects = new ConcurrentSkipListMap<>();
    private final AtomicLong versions = new AtomicLong();

    private record Stored(byte[] octets, long version) {}

    @Override
    public void put(String key, Path finished) throws IOException {
        requireKey(key);
        if (objects.putIfAbsent(key, new Stored(Files.readAllBytes(finished), versions.incrementAndGet())) != null) {
            throw new FileAlreadyExistsException(key);
        }
        Files.delete(finished);
    }

    private static void requireKey(String key) {
        for (String name : key.split("/", -1)) {
            if (name.isEmpty() || name.equals(".") || name.equals("..")) {
                throw new IllegalArgumentException("'" + key + "' is not a valid key");
            }
        }
    }

    @Override
    public StoredFile open(String key) throws IOException {
        return new Opened(stored(key).octets());
    }

    private Stored stored(String key) throws NoSuchFileException {
        Stored stored = objects.get(key);
        if (stored == null) {
            throw new NoSuchFileException(key);
        }
        return stored;
    }

    @Override
    public String version(String key) throws IOException {
        return Long.toString(stored(key).version());
    }

    @Override
    public List<String> list(String folder) {
        String prefix = folder + "/";
        var names = new TreeSet<String>();
        for (String key : objects.tailMap(prefix).keySet()) {
            if (!key.startsWith(prefix)) {
                break;
            }
            int end = key.indexOf('/', prefix.length());
            names.add(key.substring(prefix.length(), end < 0 ? key.length() : end + 1));
        }
        return List.copyOf(names);
    }

    @Override
    public boolean exists(String key) {
        return objects.containsKey(key);
    }

    @Override
    public void delete(String key) {
        objects.remove(key);
    }

    @Override
    public String location(String key) {
        return "memory://test/" + key;
    }

    @Override
    public @Nullable Path local(String key) {
        return null;
    }

    /// An object that was there when it was opened.
    private record Opened(byte[] octets) implements StoredFile {

        @Override
        public long size() {
            return octets.length;
        }

        @Override
        public void read(long position, ByteBuffer target) throws IOException {
            if (position + target.remaining() > octets.length) {
                throw new EOFException("the file ends too soon");
            }
            target.put(octets, (int) position, target.remaining());
        }

        @Override
        public void close() {}
    }
}
