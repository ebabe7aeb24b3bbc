package blackbox.replay.sqlite;

import static blackbox.replay.sqlite.DamagedDatabaseException.require;

import java.nio.ByteBuffer;

/// Reads numbers one after the other. Owned by one thread.
final class Varints {
    private static final int BYTES_MAX = 9;

    private final ByteBuffer octets;
    private final int end;
    private int at;

    Varints(ByteBuffer octets, int at, int end) {
        this.octets = octets;
        this.at = at;
        this.end = end;
    }

    /// Of 1 to 9 octets: 7 bits each, and 8 of the ninth.
    long next() throws DamagedDatabaseException {
        long value = 0;
        for (int i = 1; i < BYTES_MAX; i++) {
            int octet = octet();
            value = value << 7 | octet & 0x7f;
            if (octet < 0x80) {
                return value;
            }
        }
        return value << 8 | octet();
    }

    /// Of so many octets, the highest first, without a sign.
    long fixed(int bytes) throws DamagedDatabaseException {
        long value = 0;
        for (int i = 0; i < bytes; i++) {
            value = value << 8 | octet();
        }
        return value;
    }

    private int octet() throws DamagedDatabaseException {
        require(at < end, "a number goes beyond what it is in");
        return octets.get(at++) & 0xff;
    }

    /// Where the next one is.
    int at() {
        return at;
    }
}
