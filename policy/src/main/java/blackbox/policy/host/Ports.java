package blackbox.policy.host;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/// TCP ports, as ranges in ascending order that neither touch nor overlap.
public record Ports(List<Range> ranges) {

    public static final int PORT_MAX = 65_535;

    /// Every port.
    public static final Ports ALL = of(List.of(new Range(1, PORT_MAX)));

    /// What a rule allows that names no port.
    public static final Ports HTTPS = of(List.of(new Range(443, 443)));

    /// Ports from `first` to `last`.
    public record Range(int first, int last) {
        /// @throws IllegalArgumentException when there are no such ports
        public Range {
            if (first < 1 || last > PORT_MAX || first > last) {
                throw new IllegalArgumentException("ports are from 1 to " + PORT_MAX + ", the first of a range first");
            }
        }

        /// Reads `PORT` or `FIRST-LAST`.
        ///
        /// @throws IllegalArgumentException with a clause that says why it is none
        public static Range parse(String text) {
            if (!text.matches("[0-9]{1,5}(-[0-9]{1,5})?")) {
                throw new IllegalArgumentException("it is neither a port nor a range FIRST-LAST");
            }
            String[] ends = text.split("-", -1);
            return new Range(Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1]));
        }

        @Override
        public String toString() {
            return first == last ? Integer.toString(first) : first + "-" + last;
        }
    }

    public Ports {
        ranges = List.copyOf(ranges);
        for (int i = 1; i < ranges.size(); i++) {
            if (ranges.get(i).first <= ranges.get(i - 1).last + 1) {
                throw new IllegalArgumentException("ranges of ports touch: " + ranges);
            }
        }
    }

    /// All ports of the ranges, which may be in any order and overlap.
    public static Ports of(List<Range> ranges) {
        var sorted = new ArrayList<>(ranges);
        sorted.sort(Comparator.comparingInt(Range::first));
        var merged = new ArrayList<Range>();
        for (Range range : sorted) {
            if (merged.isEmpty() || range.first > merged.getLast().last + 1) {
                merged.add(range);
            } else {
                Range before = merged.removeLast();
                merged.add(new Range(before.first, Math.max(before.last, range.last)));
            }
        }
        return new Ports(merged);
    }

    public boolean contains(int port) {
        return ranges.stream().anyMatch(range -> range.first <= port && port <= range.last);
    }

    @Override
    public String toString() {
        String list = ranges.stream().map(Range::toString).collect(Collectors.joining(", "));
        boolean one = ranges.size() == 1 && ranges.getFirst().first == ranges.getFirst().last;
        return equals(ALL) ? "all ports" : (one ? "port " : "ports ") + list;
    }
}
