package blackbox.replay.rerun;

import blackbox.recorder.capture.PrintedStream;
import blackbox.replay.rerun.Deed.Program;
import blackbox.replay.rerun.Deed.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.Stream;

/// A deterministic agent that builds something: compilers, tools side by side, threads, a download, a log, temporary
/// files, what it prints. Made from a seed; single steps can be exchanged.
final class SmallBuild {
    static final String SERVICE = "10.0.2.2";
    private static final String SOURCES = "/workspace/src/";

    private final Random random;
    private int ids;
    final Program agent;

    SmallBuild(long seed) {
        random = new Random(seed);
        agent = agent();
    }

    private SmallBuild(Program agent) {
        this.random = new Random(0);
        this.agent = agent;
    }

    private Program agent() {
        var steps = new ArrayList<Step>();
        add(steps, new Deed.Read("/workspace/build.sh", List.of(List.of(300 + random.nextInt(500)))));
        add(steps, new Deed.Print(PrintedStream.STDOUT, "building " + words(3) + "\n"));
        int units = 3 + random.nextInt(4);
        for (int unit = 0; unit < units; unit++) {
            add(steps, new Deed.Run(compiler("unit" + (char) ('a' + unit))));
        }
        add(steps, new Deed.Print(PrintedStream.STDERR, "warning: " + words(5) + "\n"));
        add(steps, new Deed.Run(logger("first")));
        add(steps, new Deed.Beside(List.of(tool("lint"), tool("docs"), tool("check"))));
        add(steps, new Deed.Run(logger("second")));
        add(steps, new Deed.Run(threaded()));
        add(steps, new Deed.Run(installer()));
        add(steps, new Deed.Run(client("index", 8080)));
        add(steps, new Deed.Run(client("package", 8081)));
        add(steps, new Deed.Run(server()));
        add(steps, new Deed.Run(stamper()));
        add(
                steps,
                new Deed.Print(
                        PrintedStream.STDOUT, "process ${pid} is done at ${time}, after ${took}s: " + words(6) + "\n"));
        add(steps, new Deed.Print(PrintedStream.STDERR, words(4) + "\n"));
        return new Program("sh", List.of("build.sh"), "/workspace", List.copyOf(steps), 0);
    }

    private Program compiler(String unit) {
        var steps = new ArrayList<Step>();
        add(steps, new Deed.Open("/etc/localtime", 0, 0));
        add(steps, new Deed.Read(SOURCES + unit + ".c", List.of(List.of(4_096, 100 + random.nextInt(3_000)))));
        add(steps, new Deed.Open("/usr/include/" + unit + ".h", 0, -2));
        add(steps, new Deed.Open("/dev/urandom", 0, 0));
        add(steps, new Deed.Temporary("/tmp", words(4)));
        add(steps, new Deed.Unlink("${name}"));
        add(steps, write("/workspace/out/" + unit + ".o", words(20 + random.nextInt(30))));
        return new Program(
                "cc",
                List.of("-O" + random.nextInt(3), "-c", "src/" + unit + ".c", "-o", "out/" + unit + ".o"),
                "/workspace",
                List.copyOf(steps),
                0);
    }

    private Program logger(String line) {
        var steps = new ArrayList<Step>();
        add(
                steps,
                new Deed.Write(
                        "/workspace/build.log",
                        List.of(line + " " + words(2) + "\n", words(3) + "\n", words(2) + "\n"),
                        0644));
        return new Program("logger", List.of(line), "/workspace", List.copyOf(steps), 0);
    }

    private Program tool(String name) {
        var steps = new ArrayList<Step>();
        add(steps, new Deed.Read(SOURCES + "unita.c", List.of(List.of(2_000))));
        add(steps, new Deed.Open("/dev/urandom", 0, 0));
        add(steps, write("/workspace/out/" + name + ".txt", words(8)));
        add(steps, new Deed.Read("/etc/" + name + ".conf", List.of(List.of(50 + random.nextInt(50)))));
        return new Program(name, List.of("--all"), "/workspace/out", List.copyOf(steps), random.nextInt(2));
    }

    private Program threaded() {
        var threads = new ArrayList<List<Step>>();
        for (int i = 0; i < 3; i++) {
            var steps = new ArrayList<Step>();
            add(steps, new Deed.Read(SOURCES + "part" + i, List.of(List.of(1_000 + i))));
            add(steps, write("/workspace/out/part" + i, words(6)));
            add(steps, new Deed.Open("/etc/part" + i, 0, 0));
            threads.add(List.copyOf(steps));
        }
        var steps = new ArrayList<Step>();
        add(steps, new Deed.Threads(List.copyOf(threads)));
        return new Program("link", List.of("-j3"), "/workspace", List.copyOf(steps), 0);
    }

    private Program installer() {
        var steps = new ArrayList<Step>();
        for (int i = 0; i < 3; i++) {
            add(steps, new Deed.Temporary("/workspace/bin", words(9)));
            add(steps, new Deed.Rename("${name}", "/workspace/bin/program" + i));
            add(steps, new Deed.Chmod("/workspace/bin/program" + i, 0755));
            add(steps, new Deed.Symlink("/workspace/bin/current" + i, "program" + i));
        }
        add(steps, new Deed.Temporary("/workspace/cache", words(3)));
        return new Program("install", List.of("-m", "755"), "/workspace", List.copyOf(steps), 0);
    }

    private Program client(String name, int port) {
        String answer = words(30);
        var steps = new ArrayList<Step>();
        add(steps, new Deed.Open("/etc/resolv.conf", 0, 0));
        add(
                steps,
                new Deed.Fetch(
                        SERVICE,
                        port,
                        "GET /" + name + " HTTP/1.1\r\nhost: service\r\nx-token: " + words(2) + "\r\n\r\n",
                        answer,
                        List.of(),
                        0));
        add(steps, write("/workspace/" + name, answer));
        return new Program("curl", List.of("http://service:" + port + "/" + name), "/workspace", List.copyOf(steps), 0);
    }

    private Program server() {
        var steps = new ArrayList<Step>();
        add(steps, new Deed.Serve(List.of()));
        add(steps, new Deed.Sleep(50_000_000L));
        return new Program("server", List.of("--port", "0"), "/workspace", List.copyOf(steps), 0);
    }

    private Program stamper() {
        var steps = new ArrayList<Step>();
        add(steps, new Deed.Open("/etc/localtime", 0, 0));
        add(steps, write("/workspace/out/stamp", "process ${pid} built this at ${time}\n"));
        return new Program("date", List.of(), "/workspace", List.copyOf(steps), 0);
    }

    private static Deed write(String path, String content) {
        return new Deed.Write(path, List.of(content), 0644);
    }

    private void add(List<Step> steps, Deed deed) {
        steps.add(new Step(ids++, deed));
    }

    /// Letters, which are no time and no name that anybody made up.
    private String words(int count) {
        return words(random, count);
    }

    static String words(Random random, int count) {
        var text = new StringBuilder();
        for (int i = 0; i < count; i++) {
            text.append(i == 0 ? "" : " ");
            for (int letters = 3 + random.nextInt(6); letters > 0; letters--) {
                text.append((char) ('a' + random.nextInt(26)));
            }
        }
        return text.toString();
    }

    /// All steps, those of children and threads too.
    List<Step> steps() {
        return steps(agent.steps()).toList();
    }

    private static Stream<Step> steps(List<Step> steps) {
        return steps.stream().flatMap(step -> Stream.concat(Stream.of(step), within(step.deed())));
    }

    private static Stream<Step> within(Deed deed) {
        return switch (deed) {
            case Deed.Run run -> steps(run.program().steps());
            case Deed.Beside beside -> beside.programs().stream().flatMap(each -> steps(each.steps()));
            case Deed.Threads threads -> threads.threads().stream().flatMap(SmallBuild::steps);
            default -> Stream.empty();
        };
    }

    /// The same build with other deeds in place of one step's.
    SmallBuild with(Step step, Deed... instead) {
        return replace(
                step.id(),
                _ -> Stream.of(instead).map(deed -> new Step(step.id(), deed)).toList());
    }

    /// The same build with a deed before a step.
    SmallBuild before(Step step, Deed more) {
        return replace(step.id(), old -> List.of(new Step(-1, more), old));
    }

    /// The same build in which its agent ends with another code.
    SmallBuild exiting(int code) {
        return new SmallBuild(new Program(agent.name(), agent.arguments(), agent.folder(), agent.steps(), code));
    }

    private SmallBuild replace(int id, Function<Step, List<Step>> by) {
        return new SmallBuild(agent.with(replace(agent.steps(), id, by)));
    }

    private static List<Step> replace(List<Step> steps, int id, Function<Step, List<Step>> by) {
        var changed = new ArrayList<Step>();
        for (Step step : steps) {
            if (step.id() == id) {
                changed.addAll(by.apply(step));
            } else {
                changed.add(new Step(step.id(), replace(step.deed(), id, by)));
            }
        }
        return List.copyOf(changed);
    }

    private static Deed replace(Deed deed, int id, Function<Step, List<Step>> by) {
        return switch (deed) {
            case Deed.Run run -> new Deed.Run(replace(run.program(), id, by));
            case Deed.Beside beside ->
                new Deed.Beside(beside.programs().stream()
                        .map(each -> replace(each, id, by))
                        .toList());
            case Deed.Threads threads ->
                new Deed.Threads(threads.threads().stream()
                        .map(each -> replace(each, id, by))
                        .toList());
            default -> deed;
        };
    }

    private static Program replace(Program program, int id, Function<Step, List<Step>> by) {
        return program.with(replace(program.steps(), id, by));
    }
}
