package blackbox.schemas.row;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// Octets that people read as text (a path, an argument), which the kernel does not guarantee to be UTF-8.
/// Equality is by octet; [#toString] shows U+FFFD for what is not UTF-8.
public final class Text {

    private final byte[] octets;

    private Text(byte[] octets) {
        this.octets = octets;
    }

    public static Text of(String text) {
        return new Text(text.getBytes(StandardCharsets.UTF_8));
    }

    /// Copies `length` octets from `offset`.
    public static Text copyOf(byte[] source, int offset, int length) {
        return new Text(Arrays.copyOfRange(source, offset, offset + length));
    }

    public int length() {
        return octets.length;
    }

    /// A copy of the octets.
    public byte[] toBytes() {
        return octets.clone();
    }

    /// Whether its first octet is that ASCII character.
    public boolean startsWith(char ascii) {
        return octets.length > 0 && octets[0] == ascii;
    }

    /// Whether the octets are well-formed UTF-8.
    public boolean isUtf8() {
        try {
            StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(octets));
            return true;
        } catch (CharacterCodingException e) {
            return false;
        }
    }

    byte[] octets() {
        return octets;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Text text && Arrays.equals(octets, text.octets);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(octets);
    }

    @Override
    public String toString() {
        return new String(octets, StandardCharsets.UTF_8);
    }
}
