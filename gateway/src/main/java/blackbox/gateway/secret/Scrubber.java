package blackbox.gateway.secret;

import blackbox.gateway.secret.Search.Occurrence;
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
    private Search search;
    /// Those from [#first] up to [#end] are held.
    private byte[] text = NOTHING;

    private int first;
    private int end;

    Scrubber(Needles values) {
        this.values = values;
        this.search = new Search(values);
    }

    /// The next octets.
    ///
    /// @param octets of which it takes ownership
    /// @return what may be passed on, to be released by the caller; may be empty
    public ByteBuf scrub(ByteBuf octets) {
        int count = octets.readableBytes();
        makeRoom(count);
        octets.readBytes(text, end, count);
        octets.release();
        end += count;
        return pass(false);
    }

    /// What is left when nothing more comes. The scrubber can be used for something else then.
    public ByteBuf finish() {
        ByteBuf rest = pass(true);
        text = NOTHING;
        first = 0;
        end = 0;
        search = new Search(values);
        return rest;
    }

    /// Moves what is held only if at least as much has been passed on: each octet is moved once, as it were.
    private void makeRoom(int count) {
        int held = end - first;
        if (text.length - end >= count) {
            return;
        }
        byte[] room = first >= held && text.length - held >= count ? text : new byte[Math.max(count, held) + held];
        System.arraycopy(text, first, room, 0, held);
        search.shift(first);
        text = room;
        first = 0;
        end = held;
    }

    private ByteBuf pass(boolean whole) {
        var out = new ByteArrayOutputStream(0);
        Occurrence each = search.next(text, end, whole);
        while (each != null) {
            out.write(text, first, each.from() - first);
            out.writeBytes(each.needle().instead(text, each.from(), each.end()));
            found.merge(each.needle().secret(), 1L, Long::sum);
            first = each.end();
            each = search.next(text, end, whole);
        }
        int settled = search.settled();
        ByteBuf clean = out.size() == 0
                ? Unpooled.copiedBuffer(text, first, settled - first)
                : Unpooled.wrappedBuffer(out.toByteArray(), Arrays.copyOfRange(text, first, settled));
        first = settled;
        return clean;
    }

    /// A text that is whole by itself, a character an octet.
    public String scrub(String line) {
        var alone = new Scrubber(values);
        byte[] octets = line.getBytes(StandardCharsets.ISO_8859_1);
        alone.text = octets;
        alone.end = octets.length;
        ByteBuf clean = alone.pass(true);
        alone.found.forEach((secret, count) -> found.merge(secret, count, Long::sum));
        return alone.found.isEmpty() ? line : clean.toString(StandardCharsets.ISO_8859_1);
    }

    /// How often each secret was found, by id.
    public Map<String, Long> found() {
        return Collections.unmodifiableMap(found);
    }

    /// How often an octet was looked at so far.
    long looks() {
        return search.looks();
    }
}
