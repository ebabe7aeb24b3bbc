package blackbox.cli;

import blackbox.cli.exit.CommandException;
import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.CommonOptions;
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
import blackbox.replay.rerun.OnMiss;
import blackbox.schemas.Progress;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.VmException;
import java.io.BufferedReader;
import java.io.Console;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
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
            "  blackbox replay last --to 02:13:07          stop there, paused, and inspect (exact recordings)",
            "  echo registers | blackbox replay last --to 812 --json",
            "",
            "Before anything starts, the run is verified, and image, snapshot, workspace, QEMU, command line and",
            "captured files are hashed again. Verdicts: IDENTICAL, EQUIVALENT (exit 0), DIVERGED, INCOMPLETE (1),",
            "ENGINE_FAILED (3). Each verdict is stored below replays/ and signed in the log of runs; `show RUN` lists them."
        })
final class ReplayCommand implements Callable<Integer> {

    private static final long TIDY_SECONDS = 15;

    @Mixin
    private CommonOptions common;

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
            names = "--times",
            paramLabel = "N",
            description = "Replay N times and report how many replays confirm the run, and in what the others differ.")
    private int times = 1;

    @Option(names = "--all", description = "With --times: print every difference, and the verdict that decides.")
    private boolean all;

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
        try (var narrator = Narrator.onStandardError()) {
            ReplaySession session = session(folder, narrator::say);
            return say(
                    folder, tidily(() -> session.run(new ReplayOptions(id, times, workspace), trust.believed(folder))));
        }
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

    /// What the run was started from is hashed while the moment is looked up and the run is verified; a run
    /// that `--to` cannot stop in is refused before any of this.
    private int seek(DataFolder folder, ReplaySession session, RunId id, Moment moment)
            throws ReplayException, IOException, InterruptedException {
        if (times > 1 || variables.areGiven() || goOn) {
            throw CommandException.badInput("--to stops once in an exact recording and cannot be combined with --times,"
                    + " --go-on, --env or --env-file");
        }
        var recordings = common.recordings();
        var options = new ReplayOptions(id, 1, workspace);
        ReplaySession.Opened opened = session.open(options);
        ReplayMethod tier = opened.tier();
        if (tier != ReplayMethod.EXACT) {
            throw CommandException.badInput(
                    "only an exact recording can be replayed to a given moment, and this run was " + Tiers.why(tier)
                            + "; `blackbox disk RUN --at INDEX|TIME` shows its disk as it was");
        }
        if (workspace
                == null) { // hashing a given workspace means packing it first, and the moment may turn out to be wrong
            opened.hash();
        }
        long index = moment.locate(recordings, id).index();
        PrintWriter out = spec.commandLine().getOut();
        return switch (opened.prepare(trust.believed(folder))) {
            case ReplaySession.Refused refused -> say(folder, session.refuse(options, refused));
            case ReplaySession.Ready ready -> {
                var report = new DebugReport(out, form());
                try (DebugSession paused = tidily(() -> DebugSession.at(ready.request(), index, report, this::tell))) {
                    answer(paused, ready.why());
                    boolean attended = report.form() == DebugReport.Form.PROMPTED;
                    yield paused.misunderstood() && !attended ? ExitCodes.BAD_INPUT : ExitCodes.OK;
                } catch (VmException e) {
                    throw new ReplayException(ReplayException.Code.ENGINE, "the replay failed: " + e.getMessage(), e);
                }
            }
        };
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

    /// Waiting for a command cannot be interrupted; if the program is told to exit meanwhile, the machine is ended
    /// here.
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

    /// When the program is told to exit (ctrl-C), the replay is interrupted and has some time to end its machine.
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
