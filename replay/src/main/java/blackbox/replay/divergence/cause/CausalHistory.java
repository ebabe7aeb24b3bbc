package blackbox.replay.divergence.cause;

import java.util.ArrayList;
import java.util.List;

/// What may have led to an event, as far as it was seen: inputs and divergences before it in its own process, in
/// the processes that started it or that it waited for, and in those whose files it read. Immutable.
///
/// @param divergences bit mask of divergences before it
/// @param random index of the last event that shows a use of random numbers, or -1
/// @param drawn index of the last event through which a random number, and nothing else, came from another process, or
///     -1
/// @param input index of the last event through which anything else came in, or -1
/// @param clock index of the last event that shows a use of the clock, or -1
/// @param network index of the last event that shows a use of the network, or -1
/// @param files the last files read that nothing in the run had written
/// @param used the last files read that something in the run had written
public record CausalHistory(
        long divergences,
        long random,
        long drawn,
        long input,
        long clock,
        long network,
        List<FileRead> files,
        List<FileRead> used) {

    static final CausalHistory NOTHING = new CausalHistory(0, -1, -1, -1, -1, -1, List.of(), List.of());
    private static final int FILES_MAX = 8;

    /// A file that was read, by the event at `index`.
    record FileRead(String path, long index) {}

    /// Both together; this one if the other adds nothing.
    CausalHistory and(CausalHistory other) {
        if (equals(other) || other.equals(NOTHING)) {
            return this;
        }
        return new CausalHistory(
                divergences | other.divergences,
                Math.max(random, other.random),
                Math.max(drawn, other.drawn),
                Math.max(input, other.input),
                Math.max(clock, other.clock),
                Math.max(network, other.network),
                latest(files, other.files),
                latest(used, other.used));
    }

    private static List<FileRead> latest(List<FileRead> some, List<FileRead> others) {
        if (some.equals(others) || others.isEmpty()) {
            return some;
        }
        var all = new ArrayList<FileRead>(some);
        for (FileRead read : others) {
            all.removeIf(each -> each.path().equals(read.path()) && each.index() <= read.index());
            if (all.stream().noneMatch(each -> each.path().equals(read.path()))) {
                all.add(read);
            }
        }
        all.sort((one, two) -> Long.compare(one.index(), two.index()));
        return List.copyOf(all.subList(Math.max(0, all.size() - FILES_MAX), all.size()));
    }

    CausalHistory withDivergence(long bits) {
        return new CausalHistory(divergences | bits, random, drawn, input, clock, network, files, used);
    }

    CausalHistory withRandom(long index) {
        return new CausalHistory(divergences, index, drawn, input, clock, network, files, used);
    }

    /// What a process tells its parent when it ends: random numbers alone only if nothing else came in since `birth`.
    CausalHistory toldSince(long birth, long atEnd) {
        boolean random = Math.max(this.random, drawn) > birth;
        boolean more = input > birth;
        return new CausalHistory(
                divergences,
                this.random,
                random && !more ? atEnd : drawn <= birth ? drawn : -1,
                more ? atEnd : input,
                clock,
                network,
                files,
                used);
    }

    CausalHistory withClock(long index) {
        return new CausalHistory(divergences, random, drawn, input, index, network, files, used);
    }

    CausalHistory withNetwork(long index) {
        return new CausalHistory(divergences, random, drawn, index, clock, index, files, used);
    }

    CausalHistory withFile(String path, long index) {
        List<FileRead> read = List.of(new FileRead(path, index));
        return new CausalHistory(divergences, random, drawn, index, clock, network, latest(files, read), used);
    }

    CausalHistory withUsed(String path, long index) {
        List<FileRead> read = List.of(new FileRead(path, index));
        return new CausalHistory(divergences, random, drawn, index, clock, network, files, latest(used, read));
    }

    /// Whether a random number was the last thing that came in from elsewhere.
    boolean isDrawnLast() {
        return drawn >= 0 && drawn > input;
    }
}
