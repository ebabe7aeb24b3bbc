package blackbox.gateway.stack;

import blackbox.schemas.net.IpHeader;
import blackbox.schemas.net.Octets;

/// A frame with a TCP segment for the guest, made again and again in the same place. Owned by the loop.
final class TcpFrame {
    private static final int IP_AT = IpHeader.ETHERNET_BYTES;
    private static final int TCP_AT = IP_AT + 20;
    private static final int OPTIONS_AT = TCP_AT + 20;
    private static final int MSS_BYTES = 4;
    private static final int WINDOW_SCALE_BYTES = 4;
    private static final int NOTHING = 1;
    private static final int WINDOW_SCALE = 3;
    private static final int FRAME_BYTES_MAX = IP_AT + 65_535;
    private static final int HOPS = 64;

    /// Where the payload belongs: a segment with octets has no options.
    static final int PAYLOAD_AT = OPTIONS_AT;

    private final byte[] frame = new byte[FRAME_BYTES_MAX];

    TcpFrame(StackSettings settings) {
        System.arraycopy(settings.guestMacOctets(), 0, frame, 0, 6);
        System.arraycopy(StackSettings.gatewayMacOctets(), 0, frame, 6, 6);
        Octets.putU16(frame, 12, IpHeader.TYPE_V4);
        frame[IP_AT] = 0x45;
        Octets.putU16(frame, IP_AT + 6, 0x4000);
        frame[IP_AT + 8] = HOPS;
        frame[IP_AT + 9] = IpHeader.TCP;
        System.arraycopy(Octets.ofAddress(settings.guest()), 0, frame, IP_AT + 16, 4);
    }

    byte[] octets() {
        return frame;
    }

    /// From whom it is, and to which port of the guest.
    void ports(int remote, int remotePort, int guestPort) {
        Octets.putU32(frame, IP_AT + 12, remote);
        Octets.putU16(frame, TCP_AT, remotePort);
        Octets.putU16(frame, TCP_AT + 2, guestPort);
    }

    void numbers(int sequence, int acknowledgement, int window) {
        Octets.putU32(frame, TCP_AT + 4, sequence);
        Octets.putU32(frame, TCP_AT + 8, acknowledgement);
        Octets.putU16(frame, TCP_AT + 14, window);
    }

    /// Sends it.
    ///
    /// @param mss an option, or 0 for none; not with a payload
    /// @param scales whether, with it, windows of the guest's may be scaled; ours never are
    /// @param length of the payload
    void send(int flags, int mss, boolean scales, int length, FrameSink sink) {
        boolean scaled = mss > 0 && scales;
        int header = 20 + (mss > 0 ? MSS_BYTES : 0) + (scaled ? WINDOW_SCALE_BYTES : 0);
        int end = TCP_AT + header + length;
        if (mss > 0) {
            frame[OPTIONS_AT] = 2;
            frame[OPTIONS_AT + 1] = MSS_BYTES;
            Octets.putU16(frame, OPTIONS_AT + 2, mss);
        }
        if (scaled) {
            frame[OPTIONS_AT + MSS_BYTES] = NOTHING;
            frame[OPTIONS_AT + MSS_BYTES + 1] = WINDOW_SCALE;
            frame[OPTIONS_AT + MSS_BYTES + 2] = WINDOW_SCALE_BYTES - 1;
            frame[OPTIONS_AT + MSS_BYTES + 3] = 0;
        }
        frame[TCP_AT + 12] = (byte) (header / 4 << 4);
        frame[TCP_AT + 13] = (byte) flags;
        Octets.putU16(frame, IP_AT + 2, end - IP_AT);
        Octets.putU16(frame, IP_AT + 10, 0);
        Octets.putU16(frame, IP_AT + 10, Octets.checksum(Octets.sum(frame, IP_AT, TCP_AT, 0)));
        Octets.putU16(frame, TCP_AT + 16, 0);
        long pseudo = Octets.sum(frame, IP_AT + 12, TCP_AT, IpHeader.TCP + end - TCP_AT);
        Octets.putU16(frame, TCP_AT + 16, Octets.checksum(Octets.sum(frame, TCP_AT, end, pseudo)));
        sink.send(frame, end);
    }
}
