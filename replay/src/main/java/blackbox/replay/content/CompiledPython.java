package blackbox.replay.content;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Compares what CPython keeps of a module that it has compiled (PEP 552): its header has the time of the source,
/// so that a source which was written in another second makes other octets.
///
/// The two times may stand for each other if each is from when its side wrote the source; all else must be equal.
public final class CompiledPython {
    private static final Pattern PATH =
            Pattern.compile("(.*)/__pycache__/([^/]+)\\.cpython-[0-9]+(\\.opt-[12])?\\.pyc");

    private static final int HEADER_BYTES = 16;
    private static final int FLAGS = 4;
    private static final int TIME = 8;
    private static final int TIME_END = 12;
    private static final long SECOND_NS = 1_000_000_000;

    private CompiledPython() {}

    /// The path of the source, or null if the path is none of a compiled module.
    public static @Nullable String source(String path) {
        Matcher parts = PATH.matcher(path);
        return parts.matches() ? parts.group(1) + '/' + parts.group(2) + ".py" : null;
    }

    /// Compares two compiled modules.
    ///
    /// @param recordedSource when the recorded run wrote the source
    /// @param actualSource the same of the replay
    public static ContentMatch compare(
            InputStream recorded, Window recordedSource, InputStream actual, Window actualSource) throws IOException {
        byte[] expected = recorded.readNBytes(HEADER_BYTES);
        byte[] found = actual.readNBytes(HEADER_BYTES);
        Tie tie = null;
        if (hasTime(expected) && hasTime(found)) {
            long was = seconds(expected);
            long is = seconds(found);
            if (was != is
                    && recordedSource.has(was * SECOND_NS, SECOND_NS)
                    && actualSource.has(is * SECOND_NS, SECOND_NS)) {
                tie = new Tie(TIME, Long.toString(was), TIME, Long.toString(is));
                System.arraycopy(expected, TIME, found, TIME, TIME_END - TIME);
            }
        }
        ContentMatch rest = ContentMatch.of(rejoined(expected, recorded), rejoined(found, actual));
        return tie == null ? rest : new ContentMatch(rest.difference(), new Ties(1, List.of(tie)), Ties.NONE);
    }

    /// Whether it is a header with a time, not with a digest of the source.
    private static boolean hasTime(byte[] header) {
        return header.length == HEADER_BYTES
                && Arrays.equals(header, FLAGS, TIME, new byte[TIME - FLAGS], 0, TIME - FLAGS);
    }

    private static long seconds(byte[] header) {
        return ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN).getInt(TIME) & 0xffff_ffffL;
    }

    private static InputStream rejoined(byte[] first, InputStream rest) {
        return new SequenceInputStream(new ByteArrayInputStream(first), rest);
    }
}
