package blackbox.replay.content;

import java.time.Instant;
import java.time.LocalDate;
import java.time.Month;
import java.time.Year;
import java.time.ZoneOffset;
import java.util.concurrent.TimeUnit;

/// Which times something printed may mean.
sealed interface ShownTime {

    long DAY_NS = TimeUnit.DAYS.toNanos(1);

    /// Whether one of them, which was cut to a multiple of `unitNs`, may be of a window.
    boolean isIn(Window window, long unitNs);

    /// One time.
    ///
    /// @param ns since 1970
    record Once(long ns) implements ShownTime {
        @Override
        public boolean isIn(Window window, long unitNs) {
            return window.has(ns, unitNs);
        }
    }

    /// A time of each day.
    ///
    /// @param ns since its beginning in UTC; an offset may put it before or after that day
    record EachDay(long ns) implements ShownTime {
        @Override
        public boolean isIn(Window window, long unitNs) {
            if (window.holdsAll(DAY_NS)) {
                return false;
            }
            long day = Math.floorDiv(window.firstNs() - ns, DAY_NS);
            return window.has(day * DAY_NS + ns, unitNs) || window.has((day + 1) * DAY_NS + ns, unitNs);
        }
    }

    /// A time of a day of each year.
    ///
    /// @param ns since the beginning of that day
    record EachYear(int month, int day, long ns) implements ShownTime {
        @Override
        public boolean isIn(Window window, long unitNs) {
            if (window.holdsAll(365 * DAY_NS)) {
                return false;
            }
            int first = year(window.firstNs()) - 1;
            for (int year = first; year <= first + 3; year++) {
                if (of(year, month, day, ns).isIn(window, unitNs)) {
                    return true;
                }
            }
            return false;
        }

        private static int year(long ns) {
            return Instant.EPOCH.plusNanos(ns).atOffset(ZoneOffset.UTC).getYear();
        }
    }

    /// None: no clock shows this.
    record Never() implements ShownTime {
        @Override
        public boolean isIn(Window window, long unitNs) {
            return false;
        }
    }

    /// A time of a day, which may be one that there is not.
    ///
    /// @param ns since the beginning of that day
    static ShownTime of(int year, int month, int day, long ns) {
        if (year < 1970 || year > 2261 || !exists(year, month, day)) {
            return new Never();
        }
        return new Once(LocalDate.of(year, month, day).toEpochDay() * DAY_NS + ns);
    }

    private static boolean exists(int year, int month, int day) {
        return month >= 1 && month <= 12 && day >= 1 && day <= Month.of(month).length(Year.isLeap(year));
    }
}
