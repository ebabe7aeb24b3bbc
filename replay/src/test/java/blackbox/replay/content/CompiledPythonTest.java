package blackbox.replay.content;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Modules that were compiled from sources of another second are the same, and only these.
class CompiledPythonTest {
    private static final long SECOND = 1_000_000_000;
    private static final int A = 1_795_611_318;
    private static final int B = 1_795_615_555;

    private static byte[] compiled(int flags, int time, int size, String code) {
        return ByteBuffer.allocate(16 + code.length())
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(0x0a0d0da7)
                .putInt(flags)
                .putInt(time)
                .putInt(size)
                .put(code.getBytes(java.nio.charset.StandardCharsets.US_ASCII))
                .array();
    }

    private static Window at(long seconds) {
        return new Window(seconds * SECOND, seconds * SECOND + SECOND / 2);
    }

    private static ContentMatch match(byte[] recorded, byte[] actual) throws IOException {
        return CompiledPython.compare(
                new ByteArrayInputStream(recorded), at(A), new ByteArrayInputStream(actual), at(B));
    }

    @Test
    void timesOfTheSourceStandForEachOther() throws Exception {
        ContentMatch match = match(compiled(0, A, 7, "code"), compiled(0, B, 7, "code"));
        assertNull(match.difference());
        assertEquals(new Ties(1, List.of(new Tie(8, "1795611318", 8, "1795615555"))), match.times());
        byte[] same = compiled(0, A, 7, "code");
        assertEquals(new ContentMatch(null, Ties.NONE, Ties.NONE), match(same, same));
    }

    @Test
    void allElseCounts() throws Exception {
        byte[] recorded = compiled(0, A, 7, "code");
        assertEquals(8, match(recorded, compiled(0, B + 3, 7, "code")).firstDifference(), "a time of no source");
        assertEquals(12, match(recorded, compiled(0, B, 8, "code")).firstDifference());
        assertEquals(17, match(recorded, compiled(0, B, 7, "cXde")).firstDifference());
        assertEquals(20, match(recorded, compiled(0, B, 7, "code+")).firstDifference());
        assertEquals(4, match(recorded, compiled(1, B, 7, "code")).firstDifference());
        assertEquals(
                8, match(compiled(1, A, 7, "code"), compiled(1, B, 7, "code")).firstDifference(), "a digest");
        assertEquals(
                8,
                match(recorded, java.util.Arrays.copyOf(compiled(0, B, 7, ""), 12))
                        .firstDifference(),
                "cut");
    }

    @Test
    void aSourceHasThePathOfItsModule() {
        assertEquals("/w/p/m1.py", CompiledPython.source("/w/p/__pycache__/m1.cpython-311.pyc"));
        assertEquals("/w/p/m1.py", CompiledPython.source("/w/p/__pycache__/m1.cpython-311.opt-2.pyc"));
        assertNull(CompiledPython.source("/w/p/m1.pyc"));
    }
}
