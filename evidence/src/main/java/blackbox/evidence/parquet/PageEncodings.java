package blackbox.evidence.parquet;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// How a column chunk's pages are encoded, as its metadata says (Parquet format, `encodings` and
/// `encoding_stats`). Engines skip a row group by its dictionary alone if this says that all pages use it, so a
/// false statement hides rows; the reader compares it with the pages.
///
/// @param listed all encodings of data pages; others may be there too
/// @param pages how many pages there are of each type and encoding; null where the metadata does not say
record PageEncodings(Set<Integer> listed, @Nullable Map<Page, Integer> pages) {

    /// Says that there are no pages.
    static final PageEncodings NONE = new PageEncodings(Set.of(), null);

    /// What a page holds and how. Data pages of both versions are one: writers count the second as the first.
    record Page(boolean dictionary, int encoding) {
        static Page of(int type, int encoding) {
            return new Page(type == PageHeader.DICTIONARY, encoding);
        }
    }

    PageEncodings {
        listed = Set.copyOf(listed);
        pages = pages == null ? null : Map.copyOf(pages);
    }

    /// Reads `encoding_stats`, a list of `PageEncodingStats`.
    static Map<Page, Integer> parse(CompactThrift in) {
        var pages = new HashMap<Page, Integer>();
        int size = in.structs();
        for (int i = 0; i < size; i++) {
            int type = -1;
            int encoding = -1;
            int count = -1;
            for (int id = in.field(0); id != CompactThrift.STOP; id = in.field(id)) {
                switch (id) {
                    case 1 -> type = in.int32();
                    case 2 -> encoding = in.int32();
                    case 3 -> count = in.int32();
                    default -> throw in.unknown("a page encoding's count", id);
                }
            }
            if (count < 1 || pages.put(Page.of(type, encoding), count) != null) {
                throw new IllegalArgumentException("a column chunk's counts of pages are malformed");
            }
        }
        return pages;
    }

    /// Checks what is said against the pages that are there.
    void requireTrue(List<Page> there) {
        var counts = new HashMap<Page, Integer>();
        for (Page page : there) {
            if (!page.dictionary && !listed.contains(page.encoding)) {
                throw new IllegalArgumentException("a page's encoding is not among those of its column chunk");
            }
            counts.merge(page, 1, Integer::sum);
        }
        if (pages != null && !pages.equals(counts)) {
            throw new IllegalArgumentException("a column chunk's counts of pages are untrue");
        }
    }
}
