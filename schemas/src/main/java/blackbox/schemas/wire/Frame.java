package blackbox.schemas.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One frame from the guest, checked for form; its content is still only the guest's claim.
///
/// @param type a code of [FrameType], or one that is not known here
/// @param cpuSeq the CPU's sequence number
/// @param ktimeNs nanoseconds on the guest's boot clock
/// @param startNs start of the process on the guest's boot clock
/// @param ret what the call returned
public record Frame(
        int type,
        int flags,
        int cpu,
        long cpuSeq,
        long ktimeNs,
        int tgid,
        int tid,
        long startNs,
        long cgroup,
        long ret,
        List<Tlv> tlvs) {

    /// The version of this format.
    public static final int VERSION = 1;
    /// `BBX1` as a little-endian u32.
    public static final int MAGIC = 0x31584242;
    /// Length of the header.
    public static final int HEADER_BYTES = 64;
    /// Length of a TLV's header.
    public static final int TLV_BYTES = 12;
    /// The longest frame.
    public static final int BYTES_MAX = 128 << 10;

    /// The last heartbeat before the tracer is done.
    public static final int FINAL = 1;
    /// The file or connection is closed.
    public static final int CLOSED = 2;
    /// Some of the octets were requested in calls whose result is not known.
    public static final int REQUESTED = 4;
    /// Sent before the end, to report progress.
    public static final int FLUSH = 8;
    /// The call created the file.
    public static final int CREATED = 16;

    /// Above the flags is the number of the container.
    private static final int CONTAINER_SHIFT = 5;

    private static final int CPU_SEQ_AT = 16;
    private static final int KTIME_AT = 24;
    private static final int CPUS_MAX = 4_096;
    private static final int TLVS_MAX = 64;

    public Frame {
        tlvs = List.copyOf(tlvs);
    }

    /// Reads the frame that fills `[offset, offset + length)`; null if it is malformed. Keeps slices of
    /// `array`.
    public static @Nullable Frame parse(byte[] array, int offset, int length) {
        if (length < HEADER_BYTES || length > BYTES_MAX) {
            return null;
        }
        ByteBuffer in = ByteBuffer.wrap(array, offset, length).slice().order(ByteOrder.LITTLE_ENDIAN);
        boolean known = in.getInt(0) == MAGIC && in.getShort(4) == VERSION && in.getInt(8) == length;
        int cpu = Short.toUnsignedInt(in.getShort(14));
        int tgid = in.getInt(32);
        int tid = in.getInt(36);
        boolean possible =
                in.getLong(CPU_SEQ_AT) > 0 && in.getLong(KTIME_AT) >= 0 && tgid >= 0 && tid >= 0 && in.getLong(40) >= 0;
        if (!known || !possible || cpu >= CPUS_MAX) {
            return null;
        }
        List<Tlv> tlvs = tlvs(in, array, offset, length);
        return tlvs == null
                ? null
                : new Frame(
                        Short.toUnsignedInt(in.getShort(6)),
                        Short.toUnsignedInt(in.getShort(12)),
                        cpu,
                        in.getLong(CPU_SEQ_AT),
                        in.getLong(KTIME_AT),
                        tgid,
                        tid,
                        in.getLong(40),
                        in.getLong(48),
                        in.getLong(56),
                        tlvs);
    }

    /// When a frame was made.
    ///
    /// @param cpuSeq the CPU's sequence number
    /// @param ktimeNs nanoseconds on the guest's boot clock
    public record Moment(long cpuSeq, long ktimeNs) {}

    /// When the frame with this header was made; the rest of the frame need not have arrived yet. Null if it
    /// is not a frame's header.
    public static @Nullable Moment moment(byte[] header) {
        if (header.length < HEADER_BYTES) {
            return null;
        }
        ByteBuffer in = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
        return in.getInt(0) == MAGIC ? new Moment(in.getLong(CPU_SEQ_AT), in.getLong(KTIME_AT)) : null;
    }

    private static @Nullable List<Tlv> tlvs(ByteBuffer in, byte[] array, int offset, int length) {
        var tlvs = new ArrayList<Tlv>();
        int at = HEADER_BYTES;
        while (at < length) {
            if (length - at < TLV_BYTES || tlvs.size() == TLVS_MAX) {
                return null;
            }
            int captured = in.getInt(at + 4);
            if (captured < 0 || captured > length - at - TLV_BYTES) {
                return null;
            }
            tlvs.add(new Tlv(
                    Short.toUnsignedInt(in.getShort(at)),
                    Short.toUnsignedInt(in.getShort(at + 2)),
                    Integer.toUnsignedLong(in.getInt(at + 8)),
                    array,
                    offset + at + TLV_BYTES,
                    captured));
            at += TLV_BYTES + captured;
        }
        return tlvs;
    }

    /// The number of the container in which the act was done; 0 where the agent's first processes are.
    public int container() {
        return flags >>> CONTAINER_SHIFT;
    }

    public boolean is(int flag) {
        return (flags & flag) != 0;
    }

    /// The first TLV of that type, or null.
    public @Nullable Tlv find(TlvType wanted) {
        for (Tlv tlv : tlvs) {
            if (tlv.type() == wanted.code()) {
                return tlv;
            }
        }
        return null;
    }

    /// The second TLV of that type, or null.
    public @Nullable Tlv findSecond(TlvType wanted) {
        boolean first = true;
        for (Tlv tlv : tlvs) {
            if (tlv.type() == wanted.code()) {
                if (!first) {
                    return tlv;
                }
                first = false;
            }
        }
        return null;
    }
}
