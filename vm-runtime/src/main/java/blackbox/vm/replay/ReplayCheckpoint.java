package blackbox.vm.replay;

import blackbox.files.AtomicFiles;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.seek.PageTable;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.CRC32C;

/// One paused machine: its whole state except the pages themselves.
///
/// Its file is the octets `BBXKEPT1`, instruction and place in the log (64 bits each), head of the log and
/// devices (32 bits of length and the octets, each), a count of captured files with name (UTF-8, 16 bits of length)
/// and octets written (64 bits) for each, the tables of RAM, guest's disk and workspace ([PageTable#write]), and a
/// CRC-32C of all that. Most significant octets first.
///
/// @param rest the state that is not in pages
/// @param tables where its pages are
record ReplayCheckpoint(Rest rest, Tables tables) {
    private static final long MAGIC = 0x4242_584b_4550_5431L;
    private static final int BYTES_MAX = 1 << 29;

    /// The state that is not in pages.
    ///
    /// @param position the instruction that comes next
    /// @param logFrom where the recording's log, with its header, continues after the head
    /// @param head the beginning of its log
    /// @param devices as QEMU saves them
    /// @param written how much had been written to each captured file by then, in octets
    record Rest(long position, long logFrom, byte[] head, byte[] devices, Map<String, Long> written) {}

    /// Where its pages are.
    record Tables(PageTable ram, PageTable state, PageTable workspace) {
        static final Tables NONE = new Tables(PageTable.NONE, PageTable.NONE, PageTable.NONE);
    }

    /// Writes it completely and durably.
    void write(AtomicFiles files, Path target) throws VmException {
        try {
            files.replace(target, octets());
        } catch (IOException e) {
            throw new VmException(Code.IO, "a replay checkpoint could not be written at " + target, e);
        }
    }

    private byte[] octets() throws IOException {
        var octets = new ByteArrayOutputStream();
        var out = new DataOutputStream(octets);
        out.writeLong(MAGIC);
        out.writeLong(rest.position());
        out.writeLong(rest.logFrom());
        for (byte[] each : new byte[][] {rest.head(), rest.devices()}) {
            out.writeInt(each.length);
            out.write(each);
        }
        out.writeInt(rest.written().size());
        for (var each : rest.written().entrySet()) {
            out.writeUTF(each.getKey());
            out.writeLong(each.getValue());
        }
        tables.ram().write(out);
        tables.state().write(out);
        tables.workspace().write(out);
        out.writeInt(crc(octets.toByteArray(), octets.size()));
        return octets.toByteArray();
    }

    /// Reads the checkpoint at `position`.
    ///
    /// @throws VmException `IO`, also when an octet differs from what was written
    static ReplayCheckpoint read(Path file, long position) throws VmException {
        try {
            if (Files.size(file) > BYTES_MAX) {
                throw new IOException("it is too long");
            }
            byte[] octets = Files.readAllBytes(file);
            int length = octets.length - Integer.BYTES;
            if (length < 0 || ByteBuffer.wrap(octets).getInt(length) != crc(octets, length)) {
                throw new IOException("it has changed since it was written");
            }
            var in = new DataInputStream(new ByteArrayInputStream(octets, 0, length));
            if (in.readLong() != MAGIC || in.readLong() != position) {
                throw new IOException("it is not a checkpoint of that position");
            }
            long logFrom = in.readLong();
            byte[] head = in.readNBytes(in.readInt());
            byte[] devices = in.readNBytes(in.readInt());
            var written = new TreeMap<String, Long>();
            for (int left = in.readInt(); left > 0; left--) {
                written.put(in.readUTF(), in.readLong());
            }
            var tables = new Tables(PageTable.read(in), PageTable.read(in), PageTable.read(in));
            return new ReplayCheckpoint(new Rest(position, logFrom, head, devices, written), tables);
        } catch (IOException e) {
            throw new VmException(Code.IO, "the replay checkpoint " + file + " cannot be read: " + e.getMessage(), e);
        }
    }

    private static int crc(byte[] octets, int length) {
        var crc = new CRC32C();
        crc.update(octets, 0, length);
        return (int) crc.getValue();
    }
}
