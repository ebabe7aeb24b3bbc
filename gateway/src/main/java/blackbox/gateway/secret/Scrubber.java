package blackbox.gateway.secret;

import blackbox.gateway.secret.Needles.Occurrence;
import blackbox.gateway.secret.Needles.Search;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/// Takes the values of secrets out of what passes by, and writes in their place what stands for them. How the octets
/// are divided makes no difference: what may be the beginning of a value is held until it is known, and nothing else
/// is. Owned by one thread.
public final class Scrubber {
    private static final byte[] NOTHING = {};

    private final Needles values;
    private final Map<String, Long> found = new TreeMap<>();
    private byte[] held = NOTHING;

    Scrubber(Needles values) {
        this.values = values;
    }

    /// The next octets.
    ///
    /// @param octets of which it takes ownership
    /// @return what may be passed on, to be released by the caller; may be empty
    public ByteBuf scrub(ByteBuf octets) {
        byte[] text = new byte[held.length + octets.readableBytes()];
        System.arraycopy(held, 0, text, 0, held.length);
        octets.readBytes(text, held.length, octets.readableBytes());
        octets.release();
        return pass(text, false);
    }

    /// What is left when nothing more comes. The scrubber can be used for something else then.
    public ByteBuf finish() {
        byte[] text = held;
        return pass(text, true);
    }

    private ByteBuf pass(byte[] text, boolean whole) {
        Search search = values.search(text, 0, text.length, whole);
        if (search.occurrence() == null) {
            hold(text, search.settled());
            return Unpooled.wrappedBuffer(text, 0, search.settled());
        }
        var out = new ByteArrayOutputStream(text.length);
        int from = 0;
        for (Occurrence each = search.occurrence(); each != null; each = search.occurrence()) {
            out.write(text, from, each.from() - from);
            out.writeBytes(each.needle().instead(text, each.from(), each.end()));
            found.merge(each.needle().secret(), 1L, Long::sum);
            from = each.end();
            search = values.search(text, from, text.length, whole);
        }
        out.write(text, from, search.settled() - from);
        hold(text, search.settled());
        return Unpooled.wrappedBuffer(out.toByteArray());
    }

    private void hold(byte[] text, int from) {
        held = from == text.length ? NOTHING : Arrays.copyOfRange(text, from, text.length);
    }

    /// A text that is whole by itself, a character an octet.
    public String scrub(String text) {
        var alone = new Scrubber(values);
        ByteBuf clean = alone.pass(text.getBytes(StandardCharsets.ISO_8859_1), true);
        alone.found.forEach((secret, count) -> found.merge(secret, count, Long::sum));
        return alone.found.isEmpty() ? text : clean.toString(StandardCharsets.ISO_8859_1);
    }

    /// How often each secret was found, by id.
    public Map<String, Long> found() {
        return Collections.unmodifiableMap(found);
    }
}
