package blackbox.vm.seek;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/// Which pages of a file differ from its initial content, and where a [PageStore] has them.
///
/// @param numbers of the pages, ascending
/// @param places in the store, in pages, one for each
/// @param crc32c over the pages' octets in this order
public record PageTable(int[] numbers, int[] places, int crc32c) {
    /// The table of an unchanged file.
    public static final PageTable NONE = new PageTable(new int[0], new int[0], 0);

    /// How many pages have changed.
    public int size() {
        return numbers.length;
    }

    /// Writes it: count, CRC, then number and place of each, 32 bits, most significant octet first.
    public void write(DataOutputStream out) throws IOException {
        out.writeInt(numbers.length);
        out.writeInt(crc32c);
        for (int i = 0; i < numbers.length; i++) {
            out.writeInt(numbers[i]);
            out.writeInt(places[i]);
        }
    }

    /// Reads what [#write] wrote.
    ///
    /// @throws IOException also when it is not such a table
    public static PageTable read(DataInputStream in) throws IOException {
        int count = in.readInt();
        int crc32c = in.readInt();
        if (count < 0 || count > in.available() / (2 * Integer.BYTES)) {
            throw new IOException("a table of pages is incomplete");
        }
        int[] numbers = new int[count];
        int[] places = new int[count];
        for (int i = 0; i < count; i++) {
            numbers[i] = in.readInt();
            places[i] = in.readInt();
            if (places[i] < 0 || numbers[i] < 0 || i > 0 && numbers[i] <= numbers[i - 1]) {
                throw new IOException("a table of pages is invalid: page " + numbers[i] + " at " + places[i]);
            }
        }
        return new PageTable(numbers, places, crc32c);
    }
}
