package blackbox.replay.rerun;

import blackbox.recorder.capture.PrintedStream;
import blackbox.replay.divergence.EffectDifference.Kind;
import blackbox.replay.rerun.BuildSide.AfterMiss;
import blackbox.replay.rerun.Deed.Program;
import blackbox.replay.rerun.Deed.Step;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/// Plants differences in effects into a [SmallBuild], one at a time.
final class PlantedEffects {
    private static final int NO_PID = 98_765;

    private final SmallBuild build;
    private final Random random;

    PlantedEffects(SmallBuild build, Random random) {
        this.build = build;
        this.random = random;
    }

    /// A build that differs in one effect.
    ///
    /// @param kind of the effect that is to be named first
    /// @param named what its name or description has to contain
    record Effect(String what, SmallBuild build, AfterMiss afterMiss, Kind kind, String named) {
        Effect(String what, SmallBuild build, Kind kind, String named) {
            this(what, build, AfterMiss.END, kind, named);
        }
    }

    @FunctionalInterface
    private interface Planting {
        Effect plant();
    }

    /// So many of each kind that it is 60 in all.
    List<Effect> sixty() {
        var all = new ArrayList<Effect>();
        some(all, 4, this::octetOfAFile);
        some(all, 3, () -> octetOfARequest(AfterMiss.END));
        some(all, 2, () -> octetOfARequest(AfterMiss.GO_ON));
        some(all, 3, this::octetOfAnAnswer);
        some(all, 3, () -> octetPrinted(PrintedStream.STDOUT));
        some(all, 3, () -> octetPrinted(PrintedStream.STDERR));
        some(all, 3, this::mode);
        some(all, 2, this::exit);
        some(all, 1, () -> new Effect("the agent's exit code", build.exiting(1), Kind.EXIT, "sh["));
        some(all, 3, this::missingFile);
        some(all, 3, this::extraFile);
        some(all, 3, this::swappedFiles);
        some(all, 3, this::argument);
        some(all, 3, this::folder);
        some(all, 2, () -> peer(AfterMiss.END));
        some(all, 1, () -> peer(AfterMiss.GO_ON));
        some(all, 3, this::noRename);
        some(all, 2, this::piecesInAnotherOrder);
        some(all, 1, this::writersInAnotherOrder);
        some(all, 3, this::target);
        some(all, 2, () -> printedInstead("${time}", wrongTime(), "a wrong time in output"));
        some(all, 1, () -> printedInstead("${pid}", "" + NO_PID, "the number of no process in output"));
        some(all, 1, () -> printedInstead("${pid}", "${compiler}", "another process's number in output"));
        some(all, 1, () -> printedInstead("${took}", wrongDuration(), "a wrong duration in output"));
        some(all, 2, () -> stamped("${time}", wrongTime(), "a wrong time in a file"));
        some(all, 1, () -> stamped("${pid}", "" + NO_PID, "the number of no process in a file"));
        some(all, 1, () -> stamped("${pid}", "${compiler}", "another process's number in a file"));
        return List.copyOf(all);
    }

    private static void some(List<Effect> all, int count, Planting planting) {
        IntStream.range(0, count).forEach(_ -> all.add(planting.plant()));
    }

    private record Found<T>(Step step, T deed) {}

    private <T extends Deed> List<Found<T>> all(Class<T> kind) {
        return build.steps().stream()
                .filter(step -> kind.isInstance(step.deed()))
                .map(step -> new Found<>(step, kind.cast(step.deed())))
                .toList();
    }

    private <T extends Deed> Found<T> any(Class<T> kind) {
        List<Found<T>> all = all(kind);
        return all.get(random.nextInt(all.size()));
    }

    /// The text with one other letter in place of one.
    private String altered(String text) {
        List<Integer> letters = IntStream.range(0, text.length())
                .filter(i -> text.charAt(i) >= 'a' && text.charAt(i) <= 'y')
                .filter(i -> text.lastIndexOf("${", i) <= text.lastIndexOf('}', i))
                .boxed()
                .toList();
        int at = letters.get(random.nextInt(letters.size()));
        return text.substring(0, at) + (char) (text.charAt(at) + 1) + text.substring(at + 1);
    }

    /// A file that one step writes, and nothing renames or writes on.
    private Found<Deed.Write> anyFile() {
        List<Found<Deed.Write>> all = all(Deed.Write.class).stream()
                .filter(each -> !each.deed().path().endsWith(".log"))
                .toList();
        return all.get(random.nextInt(all.size()));
    }

    private Effect octetOfAFile() {
        Found<Deed.Write> file = anyFile();
        Deed.Write old = file.deed();
        return new Effect(
                "an octet of " + old.path(),
                build.with(file.step(), new Deed.Write(old.path(), List.of(altered(old.content())), old.mode())),
                Kind.FILE,
                old.path());
    }

    private Effect octetOfARequest(AfterMiss afterMiss) {
        Found<Deed.Fetch> fetch = any(Deed.Fetch.class);
        Deed.Fetch old = fetch.deed();
        int token = old.request().indexOf("x-token: ") + "x-token: ".length();
        String request =
                old.request().substring(0, token) + altered(old.request().substring(token));
        return new Effect(
                "an octet of a request to " + old.port() + " (" + afterMiss + ")",
                build.with(
                        fetch.step(), new Deed.Fetch(old.ip(), old.port(), request, old.answer(), old.attempts(), 0)),
                afterMiss,
                Kind.NETWORK,
                old.ip() + ":" + old.port());
    }

    private Effect octetOfAnAnswer() {
        Found<Deed.Fetch> fetch = any(Deed.Fetch.class);
        Deed.Fetch old = fetch.deed();
        return new Effect(
                "the last octet of an answer from " + old.port(),
                build.with(
                        fetch.step(),
                        new Deed.Fetch(old.ip(), old.port(), old.request(), old.answer(), old.attempts(), 1)),
                Kind.NETWORK,
                old.ip() + ":" + old.port());
    }

    private Found<Deed.Print> anyPrint(PrintedStream stream, String having) {
        List<Found<Deed.Print>> all = all(Deed.Print.class).stream()
                .filter(each ->
                        each.deed().stream() == stream && each.deed().text().contains(having))
                .toList();
        return all.get(random.nextInt(all.size()));
    }

    private Effect octetPrinted(PrintedStream stream) {
        Found<Deed.Print> print = anyPrint(stream, "");
        return new Effect(
                "an octet of " + stream.inWords(),
                build.with(
                        print.step(),
                        new Deed.Print(stream, altered(print.deed().text()))),
                Kind.OUTPUT,
                stream.word());
    }

    private Effect mode() {
        Found<Deed.Chmod> chmod = any(Deed.Chmod.class);
        return new Effect(
                "the mode of " + chmod.deed().path(),
                build.with(chmod.step(), new Deed.Chmod(chmod.deed().path(), random.nextBoolean() ? 0700 : 0775)),
                Kind.FILE,
                chmod.deed().path());
    }

    private Program with(Program old, List<String> arguments, String folder, int exit) {
        return new Program(old.name(), arguments, folder, old.steps(), exit);
    }

    private Effect exit() {
        Found<Deed.Run> run = any(Deed.Run.class);
        Program old = run.deed().program();
        return new Effect(
                "the exit code of " + old.name(),
                build.with(
                        run.step(),
                        new Deed.Run(with(old, old.arguments(), old.folder(), old.exit() + 1 + random.nextInt(9)))),
                Kind.EXIT,
                "exit_code=" + old.exit());
    }

    private Effect missingFile() {
        Found<Deed.Write> file = anyFile();
        return new Effect(
                "no " + file.deed().path(),
                build.with(file.step()),
                Kind.FILE,
                file.deed().path());
    }

    private Effect extraFile() {
        Found<Deed.Write> file = anyFile();
        String path = "/workspace/out/" + SmallBuild.words(random, 1);
        return new Effect(
                "one more file",
                build.before(file.step(), new Deed.Write(path, List.of(SmallBuild.words(random, 5)), 0644)),
                Kind.FILE,
                path);
    }

    private Effect swappedFiles() {
        Found<Deed.Write> one = anyFile();
        Found<Deed.Write> other = anyFile();
        while (other.equals(one)) {
            other = anyFile();
        }
        SmallBuild half = build.with(
                one.step(),
                new Deed.Write(
                        one.deed().path(), other.deed().pieces(), one.deed().mode()));
        return new Effect(
                "swapped: " + one.deed().path() + " and " + other.deed().path(),
                half.with(
                        other.step(),
                        new Deed.Write(
                                other.deed().path(),
                                one.deed().pieces(),
                                other.deed().mode())),
                Kind.FILE,
                one.deed().path() + "|" + other.deed().path());
    }

    private Effect argument() {
        List<Found<Deed.Run>> all = all(Deed.Run.class).stream()
                .filter(each -> !each.deed().program().arguments().isEmpty())
                .toList();
        Found<Deed.Run> run = all.get(random.nextInt(all.size()));
        Program old = run.deed().program();
        var arguments = new ArrayList<>(old.arguments());
        int at = random.nextInt(arguments.size());
        arguments.set(at, arguments.get(at) + "x");
        return new Effect(
                "an argument of " + old.name(),
                build.with(run.step(), new Deed.Run(with(old, arguments, old.folder(), old.exit()))),
                Kind.PROGRAM,
                arguments.get(at));
    }

    private Effect folder() {
        Found<Deed.Run> run = any(Deed.Run.class);
        Program old = run.deed().program();
        return new Effect(
                "the folder of " + old.name(),
                build.with(run.step(), new Deed.Run(with(old, old.arguments(), "/workspace/src", old.exit()))),
                Kind.PROGRAM,
                "/workspace/src");
    }

    private Effect peer(AfterMiss afterMiss) {
        Found<Deed.Fetch> fetch = any(Deed.Fetch.class);
        Deed.Fetch old = fetch.deed();
        boolean port = random.nextBoolean();
        var other = new Deed.Fetch(
                port ? old.ip() : "10.0.2.9", port ? 8443 : old.port(), old.request(), old.answer(), old.attempts(), 0);
        return new Effect(
                "another peer (" + afterMiss + ")",
                build.with(fetch.step(), other),
                afterMiss,
                Kind.NETWORK,
                other.ip() + ":" + other.port());
    }

    private Effect noRename() {
        Found<Deed.Rename> rename = any(Deed.Rename.class);
        return new Effect(
                "not renamed to " + rename.deed().to(),
                build.with(rename.step()),
                Kind.FILE,
                rename.deed().to());
    }

    private Effect piecesInAnotherOrder() {
        List<Found<Deed.Write>> all = all(Deed.Write.class).stream()
                .filter(each -> each.deed().pieces().size() > 1)
                .toList();
        Found<Deed.Write> log = all.get(random.nextInt(all.size()));
        var pieces = new ArrayList<>(log.deed().pieces());
        Collections.swap(pieces, 0, 1 + random.nextInt(pieces.size() - 1));
        return new Effect(
                "two writes in another order",
                build.with(
                        log.step(),
                        new Deed.Write(log.deed().path(), pieces, log.deed().mode())),
                Kind.FILE,
                log.deed().path());
    }

    /// Two programs write what the other one has to write.
    private Effect writersInAnotherOrder() {
        List<Found<Deed.Write>> all = all(Deed.Write.class).stream()
                .filter(each -> each.deed().pieces().size() > 1)
                .toList();
        Deed.Write one = all.getFirst().deed();
        Deed.Write other = all.getLast().deed();
        SmallBuild half = build.with(all.getFirst().step(), new Deed.Write(one.path(), other.pieces(), one.mode()));
        return new Effect(
                "two writers in another order",
                half.with(all.getLast().step(), new Deed.Write(other.path(), one.pieces(), other.mode())),
                Kind.FILE,
                one.path());
    }

    private Effect target() {
        Found<Deed.Symlink> link = any(Deed.Symlink.class);
        return new Effect(
                "the target of " + link.deed().path(),
                build.with(
                        link.step(),
                        new Deed.Symlink(link.deed().path(), link.deed().target() + "x")),
                Kind.FILE,
                link.deed().path());
    }

    private String wrongTime() {
        return List.of("2025-01-09T10:20:30Z", "2031-10-09T10:20:30Z", "1970-01-01T00:00:00Z")
                .get(random.nextInt(3));
    }

    /// Longer than the build takes.
    private String wrongDuration() {
        return List.of("100.000", "99999.125", "600.5").get(random.nextInt(3));
    }

    private Effect printedInstead(String value, String wrong, String what) {
        Found<Deed.Print> print = anyPrint(PrintedStream.STDOUT, value);
        return new Effect(
                what,
                build.with(
                        print.step(),
                        new Deed.Print(PrintedStream.STDOUT, print.deed().text().replace(value, wrong))),
                Kind.OUTPUT,
                PrintedStream.STDOUT.word());
    }

    private Effect stamped(String value, String wrong, String what) {
        Found<Deed.Write> stamp = all(Deed.Write.class).stream()
                .filter(each -> each.deed().content().contains(value))
                .findFirst()
                .orElseThrow();
        Deed.Write old = stamp.deed();
        return new Effect(
                what,
                build.with(
                        stamp.step(),
                        new Deed.Write(old.path(), List.of(old.content().replace(value, wrong)), old.mode())),
                Kind.FILE,
                old.path());
    }
}
