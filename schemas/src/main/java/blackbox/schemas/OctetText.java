package blackbox.schemas;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.StandardCharsets;

/// Octets as a string from which they can be recovered exactly, whatever they are: UTF-8 is decoded, and an
/// octet that is not UTF-8 becomes U+DC80 to U+DCFF, surrogates that decoding UTF-8 never yields (as in PEP
/// 383).
///
/// Such a string passes through everything that handles strings; [#isText] says whether it can be written as
/// text. It cannot be used as a path: Java refuses it.
public final class OctetText {
    private static final char ESCAPE = 0xdc00;

    private OctetText() {}

    /// The octets as a string.
    public static String of(byte[] octets) {
        CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();
        var in = ByteBuffer.wrap(octets);
        var out = CharBuffer.allocate(octets.length);
        for (var result = decoder.decode(in, out, true);
                result.isError();
                result = decoder.reset().decode(in, out, true)) {
            for (int i = 0; i < result.length(); i++) {
                out.put((char) (ESCAPE + Byte.toUnsignedInt(in.get())));
            }
        }
        return out.flip().toString();
    }

    /// The octets from which [#of] made the string.
    public static byte[] octets(String text) {
        var out = new ByteArrayOutputStream(text.length());
        int from = 0;
        for (int i = 0; i < text.length(); i++) {
            if (isEscaped(text, i)) {
                out.writeBytes(text.substring(from, i).getBytes(StandardCharsets.UTF_8));
                out.write(text.charAt(i) - ESCAPE);
                from = i + 1;
            }
        }
        out.writeBytes(text.substring(from).getBytes(StandardCharsets.UTF_8));
        return out.toByteArray();
    }

    /// Whether all of it is text, so that its octets are UTF-8.
    public static boolean isText(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (isEscaped(text, i)) {
                return false;
            }
        }
        return true;
    }

    /// For people to read: U+FFFD for what is not text.
    public static String shown(String text) {
        return new String(octets(text), StandardCharsets.UTF_8);
    }

    private static boolean isEscaped(String text, int at) {
        char each = text.charAt(at);
        boolean pair = at > 0 && Character.isHighSurrogate(text.charAt(at - 1));
        return each >= ESCAPE + 0x80 && each <= ESCAPE + 0xff && !pair;
    }
}
