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
/// must be equal, octet for octet. So may a name that a program made up on one side for what it created, for the name
/// of the same thing on the other side; and the number of a process, standing by itself, for that of the process that
/// stands for it, if each lived when the number was written. A duration may stand for another one of the same form, if
/// neither is longer than its own side's writer had lived, and they differ by no more than these stretches do, and a
/// second; in output also one of another unit (`47s`, `2m`), if what took the one on its side took the other there,
/// each rounded to the unit that suits. And so may words that each side drew for itself, where [Origins] says so, which
/// counts them.
///
/// @param difference where they first differ; null if they do not
/// @param times which times stood for another before that
/// @param names which names did
/// @param processes which numbers of processes did
/// @param durations which durations did
public record ContentMatch(
        @Nullable ContentDifference difference, Ties times, Ties names, Ties processes, Ties durations) {

    /// Where no number of a process stood for another, and no duration.
    public ContentMatch(@Nullable ContentDifference difference, Ties times, Ties names) {
        this(difference, times, names, Ties.NONE, Ties.NONE);
    }

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
        private final Tied times = new Tied();
        private final Tied names = new Tied();
        private final Tied processes = new Tied();
        private final Tied durations = new Tied();
        /// Whether what differs is in a time or a duration: the numbers of these are of nothing else.
        private boolean inTime;

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
                    return found(null);
                }
                recorded.fill();
                actual.fill();
                if (origins == null || !tie(origins)) {
                    return found(recorded.difference(actual));
                }
            }
        }

        private boolean tie(Origins known) throws IOException {
            return tieTimes(known) || tieDurations(known) || tieProcesses(known) || tieNames(known);
        }

        private ContentMatch found(@Nullable ContentDifference difference) {
            return new ContentMatch(difference, times.all(), names.all(), processes.all(), durations.all());
        }

        /// Moves both to after the durations that are where they differ, if these stand for each other.
        private boolean tieDurations(Origins known) {
            int back = inTime ? -1 : Math.min(recorded.backMax(), PrintedDuration.OCTETS_MAX - 1);
            for (; back >= 0; back--) {
                PrintedDuration expected = recorded.durationBefore(back);
                PrintedDuration found = actual.durationBefore(back);
                int reach = Math.max(expected == null ? 0 : expected.length(), found == null ? 0 : found.length());
                if (reach > back) {
                    inTime = true;
                    return expected != null && found != null && tie(back, expected, found, known);
                }
            }
            return false;
        }

        private boolean tie(int back, PrintedDuration expected, PrintedDuration found, Origins known) {
            boolean reach = Math.min(expected.length(), found.length()) >= back;
            if (!reach || !mayBothBe(back, expected, found, known) && !areRounded(back, expected, found, known)) {
                return false;
            }
            add(durations, expected.length(), found.length(), back);
            return true;
        }

        private boolean mayBothBe(int back, PrintedDuration expected, PrintedDuration found, Origins known) {
            boolean measured = known.recorded().isMeasured(recorded.place() - back)
                    && known.actual().isMeasured(actual.place() - back);
            boolean alike = measured
                    ? expected.isSameForm(found)
                    : expected.isLike(found, known.recorded().isPrinted());
            double stretch = sinceBeganNs(recorded, expected.length(), back, known.recorded());
            double otherStretch = sinceBeganNs(actual, found.length(), back, known.actual());
            return alike
                    && stretch >= 0
                    && otherStretch >= 0
                    && expected.ns() <= stretch + Window.TOLERANCE_NS
                    && found.ns() <= otherStretch + Window.TOLERANCE_NS
                    && (measured
                            || Math.abs(expected.ns() - found.ns())
                                    <= Math.abs(stretch - otherStretch) + Window.TOLERANCE_NS);
        }

        /// Whether both are how long the same took on either side, rounded in the same way.
        private boolean areRounded(int back, PrintedDuration expected, PrintedDuration found, Origins known) {
            if (!known.recorded().isPrinted() || !expected.isRoundedLike(found)) {
                return false;
            }
            long at =
                    recorded.written(expected.length(), back, known.recorded()).toNs();
            long otherAt = actual.written(found.length(), back, known.actual()).toNs();
            return isSame(known.values(), at, expected.nearest(), otherAt, found.nearest())
                    || isSame(known.values(), at, expected.cut(), otherAt, found.cut());
        }

        private static boolean isSame(
                KnownTies values, long at, @Nullable Window length, long otherAt, @Nullable Window otherLength) {
            return length != null && otherLength != null && values.isSameStretch(at, length, otherAt, otherLength);
        }

        /// How long those who wrote something had lived by then; negative if that is not known.
        private static double sinceBeganNs(ComparedStream stream, int length, int back, WrittenWhen written) {
            long since = written.sinceNs();
            return since == Long.MAX_VALUE
                    ? Double.NEGATIVE_INFINITY
                    : (double) stream.written(length, back, written).toNs() - since;
        }

        /// Notes values that stand for each other, and moves both to after them.
        private void add(Tied tied, int length, int otherLength, int back) {
            tied.add(
                    recorded.place() - back,
                    recorded.letters(length, back),
                    actual.place() - back,
                    actual.letters(otherLength, back));
            recorded.moveAfter(length, back);
            actual.moveAfter(otherLength, back);
        }

        /// Moves both to after the numbers that they differ in, if these are of processes that stand for each other.
        private boolean tieProcesses(Origins known) throws IOException {
            if (inTime) {
                return false;
            }
            int back = recorded.digitsBack();
            LoneNumber number = recorded.numberFrom(back);
            LoneNumber other = actual.numberFrom(back);
            if (back != actual.digitsBack()
                    || number == null
                    || other == null
                    || !known.values()
                            .isSameProcess(
                                    number.value(),
                                    recorded.written(number.length(), back, known.recorded()),
                                    other.value(),
                                    actual.written(other.length(), back, known.actual()))) {
                return false;
            }
            add(processes, number.length(), other.length(), back);
            return true;
        }

        /// Moves both to after the words that they differ in, if these are names that stand for each other.
        private boolean tieNames(Origins known) {
            int back = recorded.wordBack();
            if (back < 0 || back != actual.wordBack()) {
                return false;
            }
            int length = recorded.wordLength(back);
            int otherLength = actual.wordLength(back);
            if (length <= back && otherLength <= back || length < 0 || otherLength < 0) {
                return false;
            }
            String name = recorded.letters(length, back);
            String other = actual.letters(otherLength, back);
            if (known.values().standFor(name, other)) {
                add(names, length, otherLength, back);
                return true;
            }
            if (known.drawn().standFor(recorded.before(back, DrawnWords.BEFORE_MAX), name, other)) {
                recorded.moveAfter(length, back);
                actual.moveAfter(otherLength, back);
                return true;
            }
            return false;
        }

        /// Moves both to after the times that are where they differ, if these stand for each other. Of several
        /// that go across that place, one in another, only the outermost counts: a date that is wrong is not
        /// mended by an hour that is right.
        private boolean tieTimes(Origins known) {
            inTime = false;
            for (int back = recorded.backMax(); back >= 0; back--) {
                PrintedTime expected =
                        recorded.timeBefore(back, known.recorded().isName());
                PrintedTime found = actual.timeBefore(back, known.actual().isName());
                int reach = Math.max(expected == null ? 0 : expected.length(), found == null ? 0 : found.length());
                if (reach > back) {
                    inTime = true;
                    return expected != null && found != null && tie(back, expected, found, known);
                }
            }
            return false;
        }

        private boolean tie(int back, PrintedTime expected, PrintedTime found, Origins known) {
            boolean alike = Math.min(expected.length(), found.length()) >= back && expected.isLike(found);
            if (!alike || !areOfTheirSides(expected, found, back, known)) {
                return false;
            }
            add(times, expected.length(), found.length(), back);
            return true;
        }

        /// Whether each was written when it says, or both stand for each other anyway.
        private boolean areOfTheirSides(PrintedTime expected, PrintedTime found, int back, Origins known) {
            return recorded.wrote(expected, back, known.recorded()) && actual.wrote(found, back, known.actual())
                    || isKnown(expected, found, known.values());
        }

        /// Whether both are times that stand for each other whenever they are written.
        private static boolean isKnown(PrintedTime expected, PrintedTime found, KnownTies values) {
            Long one = expected.second();
            Long other = found.second();
            if (one != null && other != null && values.isSameSecond(one, other)) {
                return true;
            }
            Window range = expected.range();
            return values.anyTimes(
                    range.fromNs(),
                    range.toNs(),
                    (was, is) -> expected.isIn(new Window(was, was)) && found.isIn(new Window(is, is)));
        }
    }

    /// Values that stood for others so far.
    private static final class Tied {
        private final List<Tie> first = new ArrayList<>();
        private long count;

        void add(long recordedAt, String recorded, long actualAt, String actual) {
            if (count++ < Ties.SHOWN_MAX) {
                first.add(new Tie(recordedAt, recorded, actualAt, actual));
            }
        }

        Ties all() {
            return new Ties(count, first);
        }
    }
}
