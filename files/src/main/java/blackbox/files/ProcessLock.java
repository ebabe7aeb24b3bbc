package blackbox.files;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.FileLockInterruptionException;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A lock on a file: exclusive ([#tryTake], [#take]), one holder at a time among all threads of all
/// processes; or shared ([#tryTakeShared]), any number of holders and no exclusive one. It ends when any
/// thread closes it, or with the process that holds it, however that ends; a lock never outlives its
/// holder, and the file stays. It is bound to the file, not to its name: a folder may be renamed while a
/// file in it is locked. Not reentrant.
///
/// Linux drops a process's lock on a file when the process closes any descriptor of it (fcntl(2)), so
/// within this process a set decides, and a file that is held here is never opened a second time.
public final class ProcessLock implements AutoCloseable {

    /// The files that this process holds or waits for. Its monitor guards it, and every opening of a file
    /// that is locked.
    private static final Set<Object> HERE = new HashSet<>();

    /// Whoever asks for longer was stopped while it did, and counts as a holder.
    private static final int ASKED_MAX = 10_000;

    /// Those of them that this process shares, each opened once for all its holders here. Guarded by [#HERE].
    private static final Map<Object, Sharing> SHARED = new HashMap<>();

    private final Object key;
    private final FileChannel channel;
    private final @Nullable Sharing sharing;

    /// Guarded by [#HERE]; an exclusive lock is closed once its channel is.
    private boolean closed;

    /// What the holders of a shared lock have in common in this process.
    private static final class Sharing {
        private final FileChannel channel;
        private int holders;

        Sharing(FileChannel channel) {
            this.channel = channel;
        }
    }

    private ProcessLock(Object key, FileChannel channel, @Nullable Sharing sharing) {
        this.key = key;
        this.channel = channel;
        this.sharing = sharing;
    }

    /// Takes the lock on `file`, which is created if missing; null when this or another process has it.
    ///
    /// @throws IOException when the file's folder is missing, or the file cannot be created or locked
    public static @Nullable ProcessLock tryTake(Path file) throws IOException {
        for (int asked = 1; ; asked++) {
            ProcessLock lock = tryOnce(file);
            if (lock != null || asked == ASKED_MAX || isHeld(file)) {
                return lock;
            }
            // Another process was asking at that moment whether it is held.
            Thread.onSpinWait();
        }
    }

    private static @Nullable ProcessLock tryOnce(Path file) throws IOException {
        ProcessLock lock = open(file);
        if (lock == null) {
            return null;
        }
        boolean taken = false;
        try {
            taken = lock.channel.tryLock() != null;
        } catch (OverlappingFileLockException e) {
            return null; // somebody in this process locked it without this class
        } finally {
            if (!taken) {
                lock.close();
            }
        }
        return taken ? lock : null;
    }

    /// Takes a shared lock on `file`, which is created if missing; null when this or another process has an
    /// exclusive one.
    ///
    /// @throws IOException when the file's folder is missing, or the file cannot be created or locked
    public static @Nullable ProcessLock tryTakeShared(Path file) throws IOException {
        synchronized (HERE) {
            Sharing joined = SHARED.get(key(file));
            if (joined != null) {
                joined.holders++;
                return new ProcessLock(key(file), joined.channel, joined);
            }
            ProcessLock opened = open(file);
            if (opened == null) {
                return null;
            }
            boolean taken = false;
            try {
                taken = opened.channel.tryLock(0, Long.MAX_VALUE, true) != null;
            } catch (OverlappingFileLockException e) {
                return null; // somebody in this process locked it without this class
            } finally {
                if (!taken) {
                    opened.close();
                }
            }
            if (!taken) {
                return null;
            }
            var sharing = new Sharing(opened.channel);
            sharing.holders = 1;
            SHARED.put(opened.key, sharing);
            return new ProcessLock(opened.key, opened.channel, sharing);
        }
    }

    /// Waits for the lock on `file`, which is created if missing.
    ///
    /// @throws FileLockInterruptionException when the thread is interrupted; it still is then
    public static ProcessLock take(Path file) throws IOException {
        return take(file, () -> {});
    }

    /// Waits for the lock on `file`, which is created if missing.
    ///
    /// @param waiting called once, before a wait begins
    /// @throws FileLockInterruptionException when the thread is interrupted; it still is then
    public static ProcessLock take(Path file, Runnable waiting) throws IOException {
        ProcessLock free = tryTake(file);
        if (free != null) {
            return free;
        }
        waiting.run();
        ProcessLock lock = openWhenFree(file);
        boolean taken = false;
        try {
            taken = lock.channel.lock() != null;
        } finally {
            if (!taken) {
                lock.close();
            }
        }
        return lock;
    }

    /// Whether this or another process has the lock on `file`, whatever container it runs in; false if there is no
    /// such file, or it cannot be read. The kernel is asked by a shared lock that lasts for that moment: others may
    /// ask at the same time, and a process that may only read can ask, too.
    public static boolean isHeld(Path file) {
        // Nobody here may take the lock meanwhile: closing the channel would end it.
        synchronized (HERE) {
            try {
                if (HERE.contains(key(file))) {
                    return true;
                }
                try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
                        FileLock free = channel.tryLock(0, Long.MAX_VALUE, true)) {
                    return free == null;
                }
            } catch (OverlappingFileLockException e) {
                return true; // somebody in this process locked it without this class
            } catch (IOException e) {
                return false;
            }
        }
    }

    private static ProcessLock openWhenFree(Path file) throws IOException {
        synchronized (HERE) {
            ProcessLock lock = open(file);
            while (lock == null) {
                try {
                    HERE.wait();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new FileLockInterruptionException();
                }
                lock = open(file);
            }
            return lock;
        }
    }

    /// Opens the file and reserves it within this process; null if it is reserved already.
    private static @Nullable ProcessLock open(Path file) throws IOException {
        synchronized (HERE) {
            if (HERE.contains(key(file))) {
                return null;
            }
            FileChannel channel = FileChannel.open(
                    file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
            Object key = key(file);
            HERE.add(key);
            return new ProcessLock(key, channel, null);
        }
    }

    /// Identifies a file regardless of its name: its device and inode; its path if there is no file, or no
    /// such identity on this system.
    private static Object key(Path file) throws IOException {
        Path place = file.toAbsolutePath().normalize();
        try {
            Object key = Files.readAttributes(place, BasicFileAttributes.class).fileKey();
            return Objects.requireNonNullElse(key, place);
        } catch (NoSuchFileException e) {
            return place;
        }
    }

    /// Whether the locked file still has this name: a file may be deleted while somebody waits for its lock.
    public boolean isOn(Path file) throws IOException {
        return key(file).equals(key);
    }

    /// The locked file, for its holder to write.
    public FileChannel channel() {
        return channel;
    }

    @Override
    public void close() throws IOException {
        synchronized (HERE) {
            if (closed) {
                return;
            }
            closed = true;
            if (sharing != null && --sharing.holders > 0) {
                return;
            }
            if (channel.isOpen()) {
                try (channel) {
                    SHARED.remove(key);
                    HERE.remove(key);
                    HERE.notifyAll();
                }
            }
        }
    }
}
