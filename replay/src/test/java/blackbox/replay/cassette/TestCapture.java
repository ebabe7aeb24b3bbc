package blackbox.replay.cassette;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/// A capture in memory, as QEMU's filter-dump would write it.
final class TestCapture implements CapturedFrames {
    private final ByteArrayOutputStream octets = new ByteArrayOutputStream();
    private byte[] whole = {};

    TestCapture() {
        ByteBuffer header = ByteBuffer.allocate(24).order(ByteOrder.LITTLE_ENDIAN);
        header.putInt(0xa1b2c3d4).putShort((short) 2).putShort((short) 4);
        octets.writeBytes(header.putInt(16, 65_536).putInt(20, 1).array());
    }

    void add(long micros, byte[] frame) {
        ByteBuffer header = ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN);
        header.putInt((int) (micros / 1_000_000)).putInt((int) (micros % 1_000_000));
        octets.writeBytes(header.putInt(frame.length).putInt(frame.length).array());
        octets.writeBytes(frame);
    }

    @Override
    public InputStream open() {
        return new ByteArrayInputStream(octets.toByteArray());
    }

    @Override
    public byte[] read(long offset, int length) throws IOException {
        if (whole.length != octets.size()) {
            whole = octets.toByteArray();
        }
        if (offset + length > whole.length) {
            throw new IOException("the capture ends at " + whole.length);
        }
        return Arrays.copyOfRange(whole, (int) offset, (int) offset + length);
    }
}
