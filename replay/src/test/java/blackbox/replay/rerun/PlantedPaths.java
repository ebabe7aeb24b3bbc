package blackbox.replay.rerun;

import blackbox.replay.rerun.Deed.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/// Plants differences in the path alone into a [SmallBuild], one at a time.
final class PlantedPaths {
    private static final int EINTR = -4;
    private static final int EAGAIN = -11;
    private static final long O_PATH = 010000000;

    private final SmallBuild build;
    private final long turns;
    private final Random random;

    PlantedPaths(SmallBuild build, long turns, Random random) {
        this.build = build;
        this.turns = turns;
        this.random = random;
    }

    /// A build that comes to the same effects in another way.
    ///
    /// @param numbers seed of process numbers, ports, made-up names and times
    /// @param turns seed of whose turn it is
    /// @param differences how many differences of the path there are
    record Path(String what, SmallBuild build, long numbers, long turns, int differences) {}

    @FunctionalInterface
    private interface Planting {
        Path plant();
    }

    /// So many of each kind that it is 40 in all.
    List<Path> forty() {
        var all = new ArrayList<Path>();
        some(all, 3, () -> more("an open that failed with EAGAIN and was tried again", retried()));
        some(all, 2, () -> more("a connect that failed with EAGAIN and was tried again", connected()));
        some(all, 2, () -> more("an accept that failed and was tried again", accepted()));
        some(all, 5, () -> more("a look at what is not there", looked("/usr/include/" + word() + ".h", 0, -2)));
        some(all, 4, () -> more("a look more", looked("/etc/" + word(), O_PATH, 0)));
        some(all, 4, () -> more("a file opened more", looked("/usr/share/" + word(), 0, 0)));
        some(all, 4, this::portions);
        some(all, 3, this::splitReads);
        some(all, 5, () -> new Path("turns taken otherwise", build, random.nextLong(), random.nextLong(), 0));
        some(all, 4, () -> new Path("other numbers, ports, names and times", build, random.nextLong(), turns, 0));
        some(all, 2, this::temporary);
        some(all, 2, this::timer);
        return List.copyOf(all);
    }

    private static void some(List<Path> all, int count, Planting planting) {
        IntStream.range(0, count).forEach(_ -> all.add(planting.plant()));
    }

    private Path more(String what, SmallBuild other) {
        return new Path(what, other, random.nextLong(), turns, 1);
    }

    private String word() {
        return SmallBuild.words(random, 1);
    }

    private <T extends Deed> Step any(Class<T> kind) {
        List<Step> all = build.steps().stream()
                .filter(step -> kind.isInstance(step.deed()))
                .toList();
        return all.get(random.nextInt(all.size()));
    }

    private SmallBuild retried() {
        Step step = any(Deed.Open.class);
        var open = (Deed.Open) step.deed();
        return build.before(step, new Deed.Open(open.path(), open.flags(), EAGAIN));
    }

    private SmallBuild connected() {
        Step step = any(Deed.Fetch.class);
        var fetch = (Deed.Fetch) step.deed();
        return build.with(
                step, new Deed.Fetch(fetch.ip(), fetch.port(), fetch.request(), fetch.answer(), List.of(EAGAIN), 0));
    }

    private SmallBuild accepted() {
        return build.with(any(Deed.Serve.class), new Deed.Serve(List.of(random.nextBoolean() ? EAGAIN : EINTR)));
    }

    private SmallBuild looked(String path, long flags, int ret) {
        Step step = build.steps().get(random.nextInt(build.steps().size()));
        return build.before(step, new Deed.Open(path, flags, ret));
    }

    /// A read that gave less, and another for the rest; both in one event.
    private Path portions() {
        Step step = any(Deed.Read.class);
        var read = (Deed.Read) step.deed();
        int first = read.calls().getFirst().getFirst();
        int less = 1 + random.nextInt(first - 1);
        var calls = new ArrayList<>(List.of(less, first - less));
        calls.addAll(read.calls().getFirst().subList(1, read.calls().getFirst().size()));
        return more("a shorter read, and then the rest", build.with(step, new Deed.Read(read.path(), List.of(calls))));
    }

    /// The same, in two events, so that both have as many calls.
    private Path splitReads() {
        List<Step> all = build.steps().stream()
                .filter(step -> step.deed() instanceof Deed.Read read
                        && read.calls().getFirst().size() > 1)
                .toList();
        Step step = all.get(random.nextInt(all.size()));
        var read = (Deed.Read) step.deed();
        List<Integer> calls = read.calls().getFirst();
        return new Path(
                "the same reads, reported one by one",
                build.with(
                        step,
                        new Deed.Read(read.path(), calls.stream().map(List::of).toList())),
                random.nextLong(),
                turns,
                0);
    }

    private Path temporary() {
        Step step = any(Deed.Read.class);
        return new Path(
                "a temporary file more",
                build.before(step, new Deed.Temporary("/tmp", "")).before(step, new Deed.Unlink("${name}")),
                random.nextLong(),
                turns,
                1);
    }

    private Path timer() {
        Step step = any(Deed.Sleep.class);
        return new Path(
                "a later timer",
                build.with(step, new Deed.Sleep(1_000_000L * (100 + random.nextInt(2_000)))),
                random.nextLong(),
                turns,
                0);
    }
}
