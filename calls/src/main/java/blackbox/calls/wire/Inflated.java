package blackbox.calls.wire;

import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/// `gzip` (RFC 1952, with any number of members) and `deflate` (RFC 1950).
final class Inflated extends ContentDecoder {
    private enum Part {
        HEADER,
        EXTRA_LENGTH,
        EXTRA,
        NAME,
        COMMENT,
        HEADER_CRC,
        DATA,
        TRAILER,
        BETWEEN,
        END
    }

    private static final int HAS_HEADER_CRC = 2;
    private static final int HAS_EXTRA = 4;
    private static final int HAS_NAME = 8;
    private static final int HAS_COMMENT = 16;

    private final boolean gzip;
    private final Inflater inflater;
    private final byte[] inflated = new byte[8192];
    private final CRC32 crc = new CRC32();
    private Part part;
    private int seen;
    private int flags;
    private long number;
    private boolean closed;

    private Inflated(Octets out, boolean gzip) {
        super(out);
        this.gzip = gzip;
        inflater = new Inflater(gzip);
        part = gzip ? Part.HEADER : Part.DATA;
    }

    static Inflated gzip(Octets out) {
        return new Inflated(out, true);
    }

    static Inflated zlib(Octets out) {
        return new Inflated(out, false);
    }

    @Override
    void decode(byte[] octets, int from, int to) {
        int at = from;
        while (at < to && !failed()) {
            if (part == Part.DATA) {
                at = inflate(octets, at, to);
            } else {
                framing(octets[at++] & 0xff);
            }
        }
    }

    @Override
    boolean whole() {
        return part == Part.END || part == Part.BETWEEN || part == Part.HEADER && seen == 0;
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            inflater.end();
        }
    }

    private int inflate(byte[] octets, int from, int to) {
        inflater.setInput(octets, from, to - from);
        try {
            while (!failed()) {
                int count = inflater.inflate(inflated);
                crc.update(inflated, 0, count);
                give(inflated, 0, count);
                if (inflater.finished()) {
                    enter(gzip ? Part.TRAILER : Part.END);
                    break;
                }
                if (inflater.needsDictionary()) {
                    fail("its compressed data needs a dictionary");
                } else if (count == 0) {
                    break;
                }
            }
        } catch (DataFormatException e) {
            fail("its compressed data is not valid");
        }
        return to - inflater.getRemaining();
    }

    private void framing(int octet) {
        switch (part) {
            case BETWEEN -> {
                enter(Part.HEADER);
                header(octet);
            }
            case HEADER -> header(octet);
            case EXTRA_LENGTH -> {
                number |= (long) octet << 8 * seen++;
                if (seen == 2) {
                    long length = number;
                    enter(Part.EXTRA);
                    number = length;
                    if (length == 0) {
                        after(Part.EXTRA);
                    }
                }
            }
            case EXTRA -> {
                if (++seen == number) {
                    after(Part.EXTRA);
                }
            }
            case NAME, COMMENT -> {
                if (octet == 0) {
                    after(part);
                }
            }
            case HEADER_CRC -> {
                if (++seen == 2) {
                    after(Part.HEADER_CRC);
                }
            }
            case TRAILER -> trailer(octet);
            case DATA, END -> fail("something follows its compressed data");
        }
    }

    /// Ten octets: two of the format, the method, flags, and six that tell nothing here.
    private void header(int octet) {
        boolean right = switch (seen) {
            case 0 -> octet == 0x1f;
            case 1 -> octet == 0x8b;
            case 2 -> octet == 8;
            default -> true;
        };
        if (!right) {
            fail("its compressed data is no gzip");
        }
        if (seen == 3) {
            flags = octet;
        }
        if (++seen == 10) {
            after(Part.HEADER);
        }
    }

    /// Its CRC-32, then its length modulo 2^32.
    private void trailer(int octet) {
        number |= (long) octet << 8 * seen++;
        if (seen == 4 && number != crc.getValue()) {
            fail("the checksum of its compressed data is wrong");
        }
        if (seen == 8) {
            inflater.reset();
            crc.reset();
            enter(Part.BETWEEN);
        }
    }

    /// Enters the next part of a header that is there.
    private void after(Part last) {
        if (last.compareTo(Part.EXTRA) < 0 && (flags & HAS_EXTRA) != 0) {
            enter(Part.EXTRA_LENGTH);
        } else if (last.compareTo(Part.NAME) < 0 && (flags & HAS_NAME) != 0) {
            enter(Part.NAME);
        } else if (last.compareTo(Part.COMMENT) < 0 && (flags & HAS_COMMENT) != 0) {
            enter(Part.COMMENT);
        } else if (last.compareTo(Part.HEADER_CRC) < 0 && (flags & HAS_HEADER_CRC) != 0) {
            enter(Part.HEADER_CRC);
        } else {
            enter(Part.DATA);
        }
    }

    private void enter(Part next) {
        part = next;
        seen = 0;
        number = 0;
    }
}
