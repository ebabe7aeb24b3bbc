package blackbox.recorder.capture;

import blackbox.files.Folders;
import blackbox.recorder.Detail;
import blackbox.recorder.RecorderException;
import blackbox.recorder.RecorderException.Code;
import blackbox.schemas.Hash;
import blackbox.schemas.Sha256;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// A file that another thread or process writes and that grows at its end. Each call of [#sealNew] makes the
/// events that seal what is new in it, in segments without a gap from the file's first octet on.
///
/// Durability: the octets that an event covers are on the disk when the event is made. Owned by one thread.
public final class CaptureFile {

    /// The most octets that one event covers.
    public static final int SEGMENT_BYTES_MAX = 8 << 20;

    private static final int BUFFER_BYTES = 1 << 18;

    private final String name;
    private final Path path;
    private final long bytesMax;
    private final Settling settling;
    private final LongSupplier synced;
    private final LongSupplier ticker;
    private final BooleanSupplier cut;
    private final ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
    private long sealed;
    /// Up to when all that the guest wrote is in what is sealed, as was last known before the file grew again.
    private long sealedSyncedNs;
    private boolean linked;
    private boolean ended;

    /// Lengths that were read and not sealed yet, oldest first.
    private final Deque<Look> looks = new ArrayDeque<>();

    /// Finds out which of a file's octets are final.
    @FunctionalInterface
    public interface Settling {
        /// How long before this call a length must have been read, so that no octet within it will change
        /// anymore; zero for any length read before this call, null if that is not known yet.
        @Nullable
        Duration age();
    }

    /// A length of the file.
    ///
    /// @param atNs when it was read, nanoseconds since 1970 on the clock of events
    /// @param syncedNs up to when all that the guest wrote lies within it
    /// @param nanos when it was read, on the JVM's clock
    private record Look(long length, long atNs, long syncedNs, long nanos) {}

    /// A file whose octets are final as soon as they are within its length, and that may grow without bounds.
    ///
    /// @param name its name in events: lower-case letters, digits and `-`
    public CaptureFile(String name, Path path) {
        this(name, path, Long.MAX_VALUE, () -> Duration.ZERO);
    }

    /// @param bytesMax after so many octets the file is ended: an event says so, and what is written to it
    ///     further is cut off again by each call
    /// @param settling for a file whose writer fills it out of order
    public CaptureFile(String name, Path path, long bytesMax, Settling settling) {
        this(name, path, bytesMax, settling, () -> 0);
    }

    /// @param synced up to when all that the guest wrote is in the file, nanoseconds since 1970, or 0: for the
    ///     log of a disk
    public CaptureFile(String name, Path path, long bytesMax, Settling settling, LongSupplier synced) {
        this(name, path, bytesMax, settling, synced, System::nanoTime);
    }

    /// @param ticker the JVM's clock, by which lengths grow old
    CaptureFile(String name, Path path, long bytesMax, Settling settling, LongSupplier synced, LongSupplier ticker) {
        this(name, path, bytesMax, settling, synced, ticker, () -> false);
    }

    /// A file whose writer keeps a limit of its own.
    ///
    /// @param cut whether the writer has stopped because of it; nothing is written after this is true
    static CaptureFile cutByItsWriter(String name, Path path, BooleanSupplier cut) {
        return new CaptureFile(name, path, Long.MAX_VALUE, () -> Duration.ZERO, () -> 0, System::nanoTime, cut);
    }

    private CaptureFile(
            String name,
            Path path,
            long bytesMax,
            Settling settling,
            LongSupplier synced,
            LongSupplier ticker,
            BooleanSupplier cut) {
        if (!name.matches("[a-z0-9-]{1,40}") || bytesMax <= 0) {
            throw new IllegalArgumentException(
                    "no capture can be called '" + name + "' or have " + bytesMax + " octets");
        }
        this.name = name;
        this.path = path;
        this.bytesMax = bytesMax;
        this.settling = settling;
        this.synced = synced;
        this.ticker = ticker;
        this.cut = cut;
    }

    /// Its name in events.
    public String name() {
        return name;
    }

    /// The number of octets that are sealed.
    public long sealedBytes() {
        return sealed;
    }

    /// What is unsealed although the file's writer has ended; null if nothing is, or if its end was declared.
    ///
    /// @throws RecorderException `CAPTURE` when the file cannot be accessed
    public @Nullable String unsealed() throws RecorderException {
        try {
            long length = Files.exists(path) ? Files.size(path) : 0;
            return ended || length == sealed ? null : length + " octets were written, only " + sealed + " are sealed";
        } catch (IOException e) {
            throw new RecorderException(Code.CAPTURE, path + " cannot be accessed: " + e, e);
        }
    }

    /// Makes the events for what is new, in order; none if nothing is new, if the file does not exist yet, or
    /// if what is new is not final yet. Of octets that are final only some time after they were there, the event
    /// says when they were there.
    ///
    /// @param clock the time for the events, nanoseconds since 1970
    /// @throws RecorderException `CAPTURE` when the file cannot be read or made durable
    public List<Event> sealNew(LongSupplier clock) throws RecorderException {
        var events = new ArrayList<Event>();
        try {
            // Before the length is read: what the guest knows to be on its disk then lies within the length.
            long syncedNs = synced.getAsLong();
            // Before it, too: a writer that had stopped by then adds nothing to the length.
            boolean isCut = cut.getAsBoolean();
            long length = Files.exists(path) ? Files.size(path) : 0;
            // After the length was read, so that no octet is newer than the event that covers it.
            long nowNs = clock.getAsLong();
            if (ended) {
                cutTo(sealed, length);
                return events;
            }
            if (length == sealed) {
                sealedSyncedNs = syncedNs;
            } else if (length > sealed) {
                looks.add(new Look(length, nowNs, syncedNs, ticker.getAsLong()));
                Look last = takeFinal();
                if (last != null) {
                    seal(last, nowNs, events);
                }
            }
            if (sealed >= bytesMax || isCut && sealed == length) {
                ended = true;
                events.add(event(nowNs, Detail.of("ended", sealed).and("why", "budget")));
                cutTo(sealed, length);
            }
        } catch (IOException e) {
            throw new RecorderException(Code.CAPTURE, path + " cannot be sealed: " + e, e);
        }
        return events;
    }

    /// Takes the looks whose octets are final; returns the last of them, or null.
    private @Nullable Look takeFinal() {
        Duration age = settling.age();
        if (age == null) {
            looks.clear();
            return null;
        }
        long latest = looks.getLast().nanos() - age.toNanos();
        Look found = null;
        while (!looks.isEmpty() && looks.getFirst().nanos() - latest <= 0) {
            Look look = looks.removeFirst();
            if (look.length() == sealed) {
                sealedSyncedNs = look.syncedNs();
            } else {
                found = look;
            }
        }
        return found;
    }

    private void seal(Look look, long nowNs, List<Event> events) throws IOException {
        long to = Math.min(look.length(), bytesMax);
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ)) {
            file.force(true);
            if (!linked) {
                syncFolder();
                linked = true;
            }
            while (sealed < to) {
                long end = Math.min(to, sealed + SEGMENT_BYTES_MAX);
                Hash digest = digest(file, sealed, end);
                Detail detail = Detail.of("from", sealed).and("to", end).and("sha256", digest.toString());
                if (look.atNs() < nowNs) {
                    detail.and("readNs", look.atNs());
                }
                if (sealedSyncedNs > 0) {
                    detail.and("syncedBeforeNs", sealedSyncedNs);
                    sealedSyncedNs = 0;
                }
                if (look.syncedNs() > 0 && end == look.length()) {
                    detail.and("syncedNs", look.syncedNs());
                }
                events.add(event(nowNs, detail));
                sealed = end;
            }
        }
    }

    private Hash digest(FileChannel file, long from, long to) throws IOException {
        MessageDigest digest = Sha256.digest();
        for (long at = from; at < to; ) {
            buffer.clear().limit((int) Math.min(buffer.capacity(), to - at));
            int n = file.read(buffer, at);
            if (n < 0) {
                throw new EOFException("it is " + at + " octets long, and was longer");
            }
            digest.update(buffer.flip());
            at += n;
        }
        return Hash.copyOf(digest.digest(), 0);
    }

    /// The file's writer does not notice: what it writes at its own position lies after a hole, until the
    /// next call.
    private void cutTo(long end, long length) throws IOException {
        if (length > end) {
            try (FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE)) {
                file.truncate(end);
            }
        }
    }

    private void syncFolder() throws IOException {
        Path folder = path.toAbsolutePath().getParent();
        if (folder != null) {
            Folders.sync(folder);
        }
    }

    private Event event(long nowNs, Detail detail) {
        return new Event.VmCapture(EventHeader.host(nowNs), name, detail.toString());
    }
}
