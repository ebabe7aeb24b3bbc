package blackbox.gateway.secret;

import blackbox.gateway.egress.HttpField;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// Target and fields of a request's head as it leaves. Values are not in its text: a character of Unicode's private use
/// stands for each, which nothing that is read of a head contains (its characters end at 255).
public final class FilledHead {
    private static final char FIRST = '\uE000';

    private final String target;
    private final List<HttpField> fields;
    private final List<byte[]> values;

    private FilledHead(String target, List<HttpField> fields, List<byte[]> values) {
        this.target = target;
        this.fields = List.copyOf(fields);
        this.values = List.copyOf(values);
    }

    /// One without a secret.
    public static FilledHead of(String target, List<HttpField> fields) {
        return new FilledHead(target, fields, List.of());
    }

    /// Collects values while a head is written anew.
    static final class Filling {
        private final List<byte[]> values = new ArrayList<>();

        /// What stands for the value in text.
        ///
        /// @param octets in the form in which they are sent; a copy of one's own
        String put(byte[] octets) {
            values.add(octets);
            return String.valueOf((char) (FIRST + values.size() - 1));
        }

        FilledHead head(String target, List<HttpField> fields) {
            return new FilledHead(target, fields, values);
        }
    }

    public String target() {
        return target;
    }

    public List<HttpField> fields() {
        return fields;
    }

    /// How many values are in it.
    public int count() {
        return values.size();
    }

    /// A text that has been made of it, in ISO 8859-1, with the values in place.
    public byte[] octets(CharSequence text) {
        int length = 0;
        for (int at = 0; at < text.length(); at++) {
            length += text.charAt(at) < FIRST ? 1 : value(text.charAt(at)).length;
        }
        var octets = new byte[length];
        int to = 0;
        for (int at = 0; at < text.length(); at++) {
            char c = text.charAt(at);
            if (c < FIRST) {
                octets[to++] = (byte) c;
            } else {
                byte[] value = value(c);
                System.arraycopy(value, 0, octets, to, value.length);
                to += value.length;
            }
        }
        return octets;
    }

    private byte[] value(char placed) {
        return values.get(placed - FIRST);
    }

    /// Clears the values; it can be written no more.
    public void clear() {
        values.forEach(value -> Arrays.fill(value, (byte) 0));
    }
}
