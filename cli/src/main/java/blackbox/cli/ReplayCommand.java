package blackbox.cli;

import blackbox.cli.exit.CommandException;
import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.CommonOptions;
import blackbox.cli.options.ConfinementOption;
import blackbox.cli.options.MomentConverter;
import blackbox.cli.options.RunArgument;
import blackbox.cli.options.TrustOptions;
import blackbox.cli.options.VariableOptions;
import blackbox.cli.terminal.Narrator;
import blackbox.evidence.trust.ReplayNote.ReplayMethod;
import blackbox.node.replay.DebugReport;
import blackbox.node.replay.DebugSession;
import blackbox.node.verdict.ReplayReport;
import blackbox.node.verdict.ReplayReport.Extent;
import blackbox.node.verdict.ReplayReport.Reader;
import blackbox.node.verdict.ReplaySession;
import blackbox.node.verdict.ReplaySession.ReplayOptions;
import blackbox.node.verdict.ReplaySession.Verdicts;
import blackbox.node.verdict.Tiers;
import blackbox.query.QueryException;
import blackbox.replay.Moment;
import blackbox.replay.ReplayException;
import blackbox.replay.landing.ExactLanding;
import blackbox.replay.landing.KeptLanding;
import blackbox.replay.landing.Landing;
import blackbox.replay.rerun.OnMiss;
import blackbox.replay.seek.Seeker;
import blackbox.replay.seek.Seekers;
import blackbox.replay.verdict.Verdict;
import blackbox.schemas.Progress;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.VmException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.Console;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `blackbox replay`. Exit 0 when every replay confirms the run, 1 when one does not or was refused, 3 when
/// the replaying machine failed.
@Command(
        name = "replay",
        description = "Replay a recorded run, compare the two, and sign the verdict.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  blackbox replay last",
            "  blackbox replay last --times 20 --json",
            "  blackbox replay last --to 02:13:07          stop there, paused, and inspect",
            "  echo registers | blackbox replay last --to 812 --json",
            "  blackbox replay last --index                index a whole exact recording, for --to",
            "",
            "Before anything starts, the run is verified, and image, snapshot, workspace, QEMU, command line and",
            "captured files are hashed again. Verdicts: IDENTICAL, EQUIVALENT (exit 0), DIVERGED, INCOMPLETE (1),",
            "ENGINE_FAILED (3). Each verdict is stored below replays/ and signed in the log of runs; `show RUN` lists them."
        })
final class ReplayCommand implements Callable<Integer> {

    private static final long TIDY_SECONDS = 15;
    /// How long nobody asks anything before the rest of a run is indexed.
    private static final Duration IDLE = Duration.ofSeconds(3);

    @Mixin
    private CommonOptions common;

    @Mixin
    ConfinementOption confinement = new ConfinementOption();

    @Mixin
    private RunArgument run;

    @Mixin
    private TrustOptions trust;

    @Option(
            names = "--to",
            paramLabel = "INDEX|TIME",
            converter = MomentConverter.class,
            description = "Stop at an event's index, an RFC 3339 time, or HH:MM:SS of the run's day (UTC).")
    @Nullable
    private Moment to;

    @Option(
            names = "--index",
            negatable = true,
            description = "Index the whole exact recording for --to, which itself indexes only up to its moment; broken"
                    + " off, it resumes where it was. With --to: index the rest while no command comes (default: only"
                    + " at a terminal).")
    @Nullable
    private Boolean index;

    @Option(
            names = "--times",
            paramLabel = "N",
            description = "Replay N times and report how many replays confirm the run, and in what the others differ.")
    private int times = 1;

    @Option(names = "--all", description = "Print all that is known: every rule, cause and difference, not one screen.")
    private boolean all;

    @Option(
            names = "--keep",
            description = "For runs recorded live: execute the run again where every instruction is counted, several"
                    + " times slower, and keep that, so that --to can stop in it. The first --to does the same.")
    private boolean keep;

    @Option(
            names = "--workspace",
            paramLabel = "DIR",
            description = "The original workspace, if its archive was not kept; its digest must equal the sealed one.")
    @Nullable
    private Path workspace;

    @Option(
            names = "--go-on",
            description = "For runs recorded live: continue after a request that the recording has no answer to"
                    + " (default: stop there).")
    private boolean goOn;

    @Mixin
    private VariableOptions variables;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, QueryException, ReplayException, InterruptedException {
        if (times < 1) {
            throw CommandException.badInput("--times takes a number of at least 1, not " + times);
        }
        DataFolder folder = common.ownDataFolder();
        RunId id = run.resolve(common.recordings());
        if (to != null) {
            return seek(folder, session(folder, this::tell), id, to);
        }
        if (index != null) {
            return index(folder, id);
        }
        try (var narrator = Narrator.onStandardError()) {
            ReplaySession session = keep ? keeping(folder, narrator::say) : session(folder, narrator::say);
            if (keep) {
                refuseKeeping(folder, id);
            }
            return say(
                    folder, tidily(() -> session.run(new ReplayOptions(id, times, workspace), trust.believed(folder))));
        }
    }

    private void refuseKeeping(DataFolder folder, RunId id) throws ReplayException, IOException {
        if (goOn || times > 1) {
            throw CommandException.badInput(
                    "--keep executes the run again once, to where it parts from the recording; it"
                            + " cannot be combined with --times or --go-on");
        }
        if (session(folder, line -> {})
                        .open(new ReplayOptions(id, 1, workspace))
                        .tier()
                == ReplayMethod.EXACT) {
            throw CommandException.badInput("run " + id + " was recorded exactly: --to stops in the recording itself,"
                    + " there is nothing to keep");
        }
    }

    private ReplaySession keeping(DataFolder folder, Progress progress) {
        return new ReplaySession(
                folder, Tiers.keeping(variables.values()), InstantSource.system(), System::nanoTime, progress);
    }

    private ReplaySession session(DataFolder folder, Progress progress) {
        return new ReplaySession(
                folder,
                Tiers.built(variables.values(), goOn ? OnMiss.GO_ON : OnMiss.END),
                InstantSource.system(),
                System::nanoTime,
                progress);
    }

    private int say(DataFolder folder, Verdicts verdicts) throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        if (common.json()) {
            out.println(ReplayReport.json(verdicts));
            out.flush();
        } else {
            ReplayReport.Octets octets = ReplayReport.octets(folder, verdicts);
            Reader reader = isTerminal() ? Reader.TERMINAL : Reader.FILE;
            ReplayReport.print(out, verdicts, octets, reader, all ? Extent.ALL : Extent.SCREEN);
        }
        if (verdicts.isFailure()) {
            return ExitCodes.FAILED;
        }
        return verdicts.hold() ? ExitCodes.OK : ExitCodes.DOES_NOT_HOLD;
    }

    private int seek(DataFolder folder, ReplaySession session, RunId id, Moment moment)
            throws ReplayException, IOException, InterruptedException {
        if (times > 1 || goOn) {
            throw CommandException.badInput("--to stops once and cannot be combined with --times or --go-on");
        }
        var options = new ReplayOptions(id, 1, workspace);
        ReplaySession.Opened opened = session.open(options);
        if (opened.tier() != ReplayMethod.EXACT) {
            return seekInKept(folder, session, opened, options, moment);
        }
        if (variables.areGiven() || keep) {
            throw CommandException.badInput("run " + id + " was recorded exactly: --to stops in the recording itself,"
                    + " which --keep, --env and --env-file have nothing to do with");
        }
        return seekInRecording(folder, session, opened, options, moment);
    }

    /// What the run was started from is hashed while the moment is looked up and the run is verified.
    private int seekInRecording(
            DataFolder folder, ReplaySession session, ReplaySession.Opened opened, ReplayOptions options, Moment moment)
            throws ReplayException, IOException, InterruptedException {
        if (workspace
                == null) { // hashing a given workspace means packing it first, and the moment may turn out to be wrong
            opened.hash();
        }
        long event = moment.locate(common.recordings(), options.run()).index();
        return switch (opened.prepare(trust.believed(folder))) {
            case ReplaySession.Refused refused -> say(folder, session.refuse(options, refused));
            case ReplaySession.Ready ready -> land(new ExactLanding(ready.request()), event, ready.why());
        };
    }

    /// Of a run that was recorded live, a re-execution is landed in; it takes place now if there is none.
    private int seekInKept(
            DataFolder folder, ReplaySession session, ReplaySession.Opened opened, ReplayOptions options, Moment moment)
            throws ReplayException, IOException, InterruptedException {
        long event = moment.locate(common.recordings(), options.run()).index();
        var trusted = trust.believed(folder);
        Verdict verdict = keep ? null : opened.kept(trusted);
        if (verdict == null) {
            tell("the run was recorded live: executing it again once where every instruction is counted, and keeping"
                    + " that");
            Verdicts verdicts = tidily(() -> keeping(folder, this::tell).run(options, trusted));
            if (verdicts.first().kept() == null) {
                return say(folder, verdicts);
            }
            tell("the re-execution is " + ReplayReport.inWords(verdicts.first()));
            verdict = opened.kept(trusted);
        }
        if (verdict == null) {
            throw new ReplayException(
                    ReplayException.Code.MISSING,
                    "nothing can be landed in: the verdict on the re-execution is not signed in this data folder's log of"
                            + " runs; `blackbox show " + options.run() + "` says why");
        }
        return switch (opened.prepareKept(verdict, trusted)) {
            case ReplaySession.Refused refused -> say(folder, session.refuse(options, refused));
            case ReplaySession.ReadyToLand ready -> {
                try (KeptLanding landing = ready.landing()) {
                    yield land(landing, event, Tiers.why(opened.tier()));
                }
            }
        };
    }

    private int land(Landing landing, long event, String why)
            throws ReplayException, IOException, InterruptedException {
        var report = new DebugReport(spec.commandLine().getOut(), form());
        try (DebugSession paused = tidily(() -> DebugSession.at(landing, event, report, this::tell))) {
            boolean attended = report.form() == DebugReport.Form.PROMPTED;
            if (index == null ? attended : index) {
                paused.indexWhileIdle(IDLE, this::tell);
            }
            answer(paused, why);
            return paused.misunderstood() && !attended ? ExitCodes.BAD_INPUT : ExitCodes.OK;
        } catch (VmException e) {
            throw new ReplayException(ReplayException.Code.ENGINE, "the replay failed: " + e.getMessage(), e);
        }
    }

    private int index(DataFolder folder, RunId id) throws ReplayException, IOException, InterruptedException {
        if (!Boolean.TRUE.equals(index)) {
            throw CommandException.badInput("--no-index says what happens after --to has landed, and needs --to");
        }
        if (times > 1 || variables.areGiven() || goOn || keep) {
            throw CommandException.badInput("--index goes through an exact recording once and cannot be combined with"
                    + " --times, --go-on, --keep, --env or --env-file");
        }
        try (var narrator = Narrator.onStandardError()) {
            ReplaySession session = session(folder, narrator::say);
            var options = new ReplayOptions(id, 1, workspace);
            ReplaySession.Opened opened = session.open(options);
            if (opened.tier() != ReplayMethod.EXACT) {
                throw CommandException.badInput(
                        "without --to, --index is for exact recordings, and this run was " + Tiers.why(opened.tier()));
            }
            return switch (opened.prepare(trust.believed(folder))) {
                case ReplaySession.Refused refused -> say(folder, session.refuse(options, refused));
                case ReplaySession.Ready ready -> {
                    Seeker seeker = Seekers.open(ready.request(), narrator::say);
                    tidily(seeker::indexAll);
                    yield sayIndexed(id);
                }
            };
        }
    }

    private int sayIndexed(RunId id) {
        PrintWriter out = spec.commandLine().getOut();
        if (common.json()) {
            out.println(
                    new ObjectMapper().createObjectNode().put("run", id.value()).put("indexed", true));
        } else {
            out.println("run " + id + " is indexed");
        }
        out.flush();
        return ExitCodes.OK;
    }

    private void tell(String line) {
        PrintWriter err = spec.commandLine().getErr();
        err.println("blackbox: " + line);
        err.flush();
    }

    private DebugReport.Form form() {
        if (common.json()) {
            return DebugReport.Form.JSON;
        }
        return isTerminal() ? DebugReport.Form.PROMPTED : DebugReport.Form.TEXT;
    }

    private static boolean isTerminal() {
        return Optional.ofNullable(System.console()).map(Console::isTerminal).orElse(false);
    }

    /// Waiting for a command cannot be interrupted; if the program is told to exit meanwhile, the machine is
    /// ended here.
    private static void answer(DebugSession paused, String why)
            throws ReplayException, IOException, InterruptedException {
        Thread hook = Thread.ofPlatform().unstarted(() -> {
            try {
                if (paused.isAsking()) {
                    paused.close();
                }
            } catch (VmException _) {
                // The next seek clears what is left.
            }
        });
        Runtime.getRuntime().addShutdownHook(hook);
        try (var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            paused.answer(in, why);
        } finally {
            forget(hook);
        }
    }

    /// A replay.
    private interface Work<T> {
        T run() throws ReplayException, IOException, InterruptedException;
    }

    /// When the program is told to exit (ctrl-C), the replay is interrupted and has some time to end its
    /// machine.
    private static <T> T tidily(Work<T> work) throws ReplayException, IOException, InterruptedException {
        Thread replaying = Thread.currentThread();
        var done = new CountDownLatch(1);
        Thread hook = Thread.ofPlatform().unstarted(() -> {
            replaying.interrupt();
            try {
                done.await(TIDY_SECONDS, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        Runtime.getRuntime().addShutdownHook(hook);
        try {
            return work.run();
        } finally {
            done.countDown();
            forget(hook);
        }
    }

    private static void forget(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException _) {
            // The hook is already running: the program is ending.
        }
    }
}
