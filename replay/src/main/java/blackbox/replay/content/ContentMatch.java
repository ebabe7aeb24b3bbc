package blackbox.replay.content;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// How two streams of octets compare.
///
/// A time in either may stand for one at the corresponding place in the other if both are written in one and the
/// same [TimeForm], and each lies in the window in which its own side wrote it, or within a second of it. All else
/// must be equal, octet for octet.
///
/// @param difference where they first differ; null if they do not
/// @param times which times stood for another before that
public record ContentMatch(@Nullable ContentDifference difference, TiedTimes times) {

    /// Compares up to the first octet that differs; no time stands for another. Neither stream need be read to its
    /// end, and neither is closed.
    public static ContentMatch of(InputStream recorded, InputStream actual) throws IOException {
        return of(recorded, actual, null);
    }

    /// Compares up to the first difference that no two times explain.
    ///
    /// @param origins when each side's octets were written; null if that is not known, so that no time stands for
    ///     another
    public static ContentMatch of(InputStream recorded, InputStream actual, @Nullable Origins origins)
            throws IOException {
        return new Comparing(recorded, actual, origins).match();
    }

    /// The first octet of the recorded stream that differs, or null.
    public @Nullable Long firstDifference() {
        return difference == null ? null : (Long) difference.recorded();
    }

    /// One comparison.
    private static final class Comparing {
        private final ComparedStream recorded;
        private final ComparedStream actual;
        private final @Nullable Origins origins;
        private final List<TiedTime> first = new ArrayList<>();
        private long count;

        Comparing(InputStream recorded, InputStream actual, @Nullable Origins origins) {
            this.recorded = new ComparedStream(recorded);
            this.actual = new ComparedStream(actual);
            this.origins = origins;
        }

        ContentMatch match() throws IOException {
            while (true) {
                recorded.fill();
                actual.fill();
                recorded.skipEqual(actual);
                if (recorded.wantsMore() || actual.wantsMore()) {
                    continue;
                }
                if (recorded.isOver() && actual.isOver()) {
                    return new ContentMatch(null, times());
                }
                recorded.fill();
                actual.fill();
                if (origins == null || !tie(origins)) {
                    return new ContentMatch(recorded.difference(actual), times());
                }
            }
        }

        private TiedTimes times() {
            return new TiedTimes(count, first);
        }

        /// Moves both to after the times that are where they differ, if these stand for each other. Of several
        /// that go across that place, one in another, only the outermost counts: a date that is wrong is not
        /// mended by an hour that is right.
        private boolean tie(Origins known) {
            for (int back = recorded.backMax(); back >= 0; back--) {
                PrintedTime expected = recorded.timeBefore(back);
                PrintedTime found = actual.timeBefore(back);
                int reach = Math.max(expected == null ? 0 : expected.length(), found == null ? 0 : found.length());
                if (reach > back) {
                    return expected != null && found != null && tie(back, expected, found, known);
                }
            }
            return false;
        }

        private boolean tie(int back, PrintedTime expected, PrintedTime found, Origins known) {
            if (Math.min(expected.length(), found.length()) < back
                    || !expected.isLike(found)
                    || !recorded.wrote(expected, back, known.recorded())
                    || !actual.wrote(found, back, known.actual())) {
                return false;
            }
            if (count++ < TiedTimes.SHOWN_MAX) {
                first.add(new TiedTime(
                        recorded.place() - back,
                        recorded.letters(expected, back),
                        actual.place() - back,
                        actual.letters(found, back)));
            }
            recorded.moveAfter(expected, back);
            actual.moveAfter(found, back);
            return true;
        }
    }
}
