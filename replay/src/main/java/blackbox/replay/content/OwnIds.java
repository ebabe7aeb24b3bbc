package blackbox.replay.content;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Ids that the other side drew, each of which stands for one that the recorded side drew, wherever it is written as a
/// word, or as a part of one that `-` or `_` sets off. Immutable.
public final class OwnIds {
    /// There are none.
    public static final OwnIds NONE = new OwnIds(Map.of());

    private final Map<String, byte[]> recordedOf = new HashMap<>();
    private final Set<String> recorded;
    private final int[] lengths;

    private OwnIds(Map<String, String> actualOf) {
        this.recorded = Set.copyOf(actualOf.keySet());
        actualOf.forEach((recorded, actual) -> recordedOf.put(actual, recorded.getBytes(StandardCharsets.US_ASCII)));
        this.lengths = recordedOf.keySet().stream()
                .mapToInt(String::length)
                .distinct()
                .sorted()
                .toArray();
    }

    /// @param actualOf the other side's ids by the recorded ones; letters, digits, `-` and `_`
    public static OwnIds of(Map<String, String> actualOf) {
        return actualOf.isEmpty() ? NONE : new OwnIds(actualOf);
    }

    /// Whether an id of either side is among them.
    public boolean has(String id) {
        return recordedOf.containsKey(id) || recorded.contains(id);
    }

    public boolean isEmpty() {
        return lengths.length == 0;
    }

    /// Whether a text of the other side is the recorded one but for such ids, of which it has at least one.
    public boolean standFor(String recorded, String actual) {
        byte[] octets = actual.getBytes(StandardCharsets.ISO_8859_1);
        byte[] form = isEmpty() ? null : recordedForm(octets, 0, octets.length);
        return form != null && new String(form, StandardCharsets.ISO_8859_1).equals(recorded);
    }

    /// A text of the other side with the recorded ids in the place of its own; null if it has none.
    public byte @Nullable [] recordedForm(byte[] text, int from, int length) {
        int end = from + length;
        if (isEmpty() || length < lengths[0]) {
            return null;
        }
        ByteArrayOutputStream form = null;
        int copied = from;
        for (int i = from; i <= end - lengths[0]; i++) {
            if (i > from && PrintedTime.isOfWord(text[i - 1])) {
                continue;
            }
            byte[] recorded = recordedAt(text, i, end);
            if (recorded != null) {
                form = form == null ? new ByteArrayOutputStream(length) : form;
                form.write(text, copied, i - copied);
                form.writeBytes(recorded);
                copied = i + recorded.length;
                i = copied - 1;
            }
        }
        if (form != null) {
            form.write(text, copied, end - copied);
        }
        return form == null ? null : form.toByteArray();
    }

    /// The longest.
    private byte @Nullable [] recordedAt(byte[] text, int at, int end) {
        for (int i = lengths.length - 1; i >= 0; i--) {
            int after = at + lengths[i];
            if (after <= end && (after == end || !PrintedTime.isOfWord(text[after]))) {
                byte[] recorded = recordedOf.get(new String(text, at, lengths[i], StandardCharsets.ISO_8859_1));
                if (recorded != null) {
                    return recorded;
                }
            }
        }
        return null;
    }
}
