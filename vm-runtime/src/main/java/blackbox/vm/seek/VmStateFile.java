package blackbox.vm.seek;

import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/// Extracts the device stream from the disk image (qcow2, versions 2 and 3) to which QEMU saved a snapshot.
/// In a replay QEMU can save its devices nowhere else: a migration, which would write the same stream to a
/// file, ends the replay.
public final class VmStateFile {
    private static final int MAGIC = 0x514649fb;
    private static final int HEADER_BYTES = 72;
    private static final int SNAPSHOT_BYTES = 40;
    private static final int CLUSTER_BITS_MAX = 21;
    private static final int STATE_BYTES_MAX = 256 << 20;
    private static final long OFFSET = 0x00ff_ffff_ffff_fe00L;
    private static final long COMPRESSED = 1L << 62;

    private final FileChannel image;
    private final int clusterBytes;
    private final long firstCluster;
    private final long table;

    private VmStateFile(FileChannel image, int clusterBytes, long firstCluster, long table) {
        this.image = image;
        this.clusterBytes = clusterBytes;
        this.firstCluster = firstCluster;
        this.table = table;
    }

    /// The stream of the one snapshot in `file`.
    public static byte[] stream(Path file) throws VmException {
        try (var image = FileChannel.open(file, StandardOpenOption.READ)) {
            ByteBuffer header = read(image, 0, HEADER_BYTES);
            int clusterBits = header.getInt(20);
            if (header.getInt(0) != MAGIC || clusterBits < 9 || clusterBits > CLUSTER_BITS_MAX) {
                throw new IOException("it is not a qcow2 image");
            }
            if (header.getInt(60) != 1) {
                throw new IOException("it has " + header.getInt(60) + " snapshots instead of one");
            }
            long snapshotAt = octets(header, 64);
            ByteBuffer snapshot = read(image, snapshotAt, SNAPSHOT_BYTES);
            int clusterBytes = 1 << clusterBits;
            // The guest's view of the disk comes first, rounded up to a whole first-level entry.
            long perTable = clusterBytes / Long.BYTES;
            long tableSpan = clusterBytes * perTable;
            long first = Math.ceilDiv(octets(header, 24), tableSpan) * perTable;
            long length = Integer.toUnsignedLong(snapshot.getInt(32));
            if (snapshot.getInt(36) >= Long.BYTES) {
                long wide = read(image, snapshotAt + SNAPSHOT_BYTES, Long.BYTES).getLong(0);
                length = wide == 0 ? length : wide;
            }
            // Also not longer than the image: what a few octets claim must cost neither memory nor time.
            if (length < 1 || length > Math.min(STATE_BYTES_MAX, image.size())) {
                throw new IOException("its snapshot has " + length + " octets of devices");
            }
            return new VmStateFile(image, clusterBytes, first, octets(snapshot, 0)).take((int) length);
        } catch (IOException e) {
            throw new VmException(Code.QEMU_FAILED, file + " does not hold a QEMU snapshot: " + e.getMessage(), e);
        }
    }

    /// An offset or a length in the image, small enough for sums of them not to overflow.
    private static long octets(ByteBuffer from, int at) throws IOException {
        long octets = from.getLong(at);
        if (octets < 0 || octets > OFFSET) {
            throw new IOException("it names octet " + Long.toUnsignedString(octets));
        }
        return octets;
    }

    private byte[] take(int length) throws IOException {
        ByteBuffer stream = ByteBuffer.allocate(length);
        for (long cluster = firstCluster; stream.hasRemaining(); cluster++) {
            int part = Math.min(clusterBytes, stream.remaining());
            long place = place(cluster);
            stream.put(place == 0 ? ByteBuffer.allocate(part) : read(image, place, part));
        }
        return stream.array();
    }

    private long place(long cluster) throws IOException {
        long perTable = clusterBytes / Long.BYTES;
        long second = entry(table + cluster / perTable * Long.BYTES);
        return second == 0 ? 0 : entry(second + cluster % perTable * Long.BYTES);
    }

    private long entry(long at) throws IOException {
        long entry = read(image, at, Long.BYTES).getLong(0);
        if ((entry & COMPRESSED) != 0) {
            throw new IOException("its snapshot is compressed");
        }
        return entry & OFFSET;
    }

    private static ByteBuffer read(FileChannel image, long at, int length) throws IOException {
        ByteBuffer octets = ByteBuffer.allocate(length);
        while (octets.hasRemaining()) {
            if (image.read(octets, at + octets.position()) < 0) {
                throw new IOException("it ends at octet " + (at + octets.position()));
            }
        }
        return octets.flip();
    }
}
