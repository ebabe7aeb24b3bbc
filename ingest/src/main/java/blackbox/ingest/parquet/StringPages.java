package blackbox.ingest.parquet;

import java.io.IOException;
import java.util.Arrays;
import org.apache.parquet.column.Encoding;
import org.apache.parquet.column.statistics.Statistics;
import org.apache.parquet.schema.PrimitiveType;

/// How strings, alone or in lists, become pages.
final class StringPages {

    /// Past this a dictionary costs readers more memory than it saves octets.
    private static final int DICTIONARY_BYTES_MAX = 4 << 20;

    private StringPages() {}

    /// Writes the dictionary where one pays: at least `valuesPerEntry` values for each entry. Says whether it
    /// did.
    static boolean begin(
            OctetsDictionary distinct, int values, ChunkScratch scratch, ChunkSink sink, int valuesPerEntry)
            throws IOException {
        boolean pays =
                distinct.count() <= Math.max(1, values / valuesPerEntry) && distinct.bytes() <= DICTIONARY_BYTES_MAX;
        if (pays) {
            Octets plain = scratch.data.clear();
            for (int id = 0; id < distinct.count(); id++) {
                plain.putLittleEndian(distinct.length(id), Integer.BYTES);
                plain.put(distinct.array(), distinct.offset(id), distinct.length(id));
            }
            sink.dictionary(plain, distinct.count());
        }
        return pays;
    }

    static Encoding encoding(boolean dictionary) {
        return dictionary ? Encoding.RLE_DICTIONARY : Encoding.PLAIN;
    }

    /// Builds the data of a page from the values with these ids.
    static void put(OctetsDictionary distinct, boolean dictionary, int[] ids, int from, int to, ChunkScratch scratch)
            throws IOException {
        if (dictionary) {
            scratch.putIds(ids, from, to, distinct.count());
            return;
        }
        Octets data = scratch.data.clear();
        for (int i = from; i < to; i++) {
            data.putLittleEndian(distinct.length(ids[i]), Integer.BYTES);
            data.put(distinct.array(), distinct.offset(ids[i]), distinct.length(ids[i]));
        }
    }

    /// The statistics of a page, bounded by the least and greatest string of the whole chunk.
    static Statistics<?> bounded(OctetsDictionary distinct, PrimitiveType type, int nulls) {
        int min = 0;
        int max = 0;
        for (int id = 1; id < distinct.count(); id++) {
            if (compare(distinct, id, min) < 0) {
                min = id;
            } else if (compare(distinct, id, max) > 0) {
                max = id;
            }
        }
        return Statistics.getBuilderForReading(type)
                .withMin(copy(distinct, min))
                .withMax(copy(distinct, max))
                .withNumNulls(nulls)
                .build();
    }

    private static int compare(OctetsDictionary distinct, int a, int b) {
        return Arrays.compareUnsigned(
                distinct.array(),
                distinct.offset(a),
                distinct.offset(a) + distinct.length(a),
                distinct.array(),
                distinct.offset(b),
                distinct.offset(b) + distinct.length(b));
    }

    private static byte[] copy(OctetsDictionary distinct, int id) {
        return Arrays.copyOfRange(distinct.array(), distinct.offset(id), distinct.offset(id) + distinct.length(id));
    }
}
