package blackbox.cli;

import blackbox.cli.argv.GivenArguments;
import blackbox.cli.argv.GivenEnvironment;
import blackbox.cli.argv.HiddenArguments;
import blackbox.cli.argv.PassedArguments;
import blackbox.cli.exit.CommandException;
import blackbox.cli.exit.ExitCodes;
import blackbox.cli.guard.Undumpable;
import blackbox.cli.output.StandardOutput;
import blackbox.evidence.EvidenceException;
import blackbox.evidence.sign.Ed25519Verifier;
import blackbox.ingest.IngestException;
import blackbox.node.openssl.Openssl;
import blackbox.node.travel.TravelException;
import blackbox.query.QueryException;
import blackbox.recorder.RecorderException;
import blackbox.replay.ReplayException;
import blackbox.report.ReportException;
import blackbox.schemas.Release;
import blackbox.vm.VmException;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParseResult;

/// The `blackbox` program. Each command has its own class; exit codes are those of the command-line contract.
@Command(
        name = "blackbox",
        description = "The flight recorder and replay service for AI agents.",
        version = "blackbox " + Release.VERSION,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  blackbox image build                          build the guest image, once",
            "  blackbox record --workspace . -- make test    run a command in a VM and record it",
            "  blackbox touched last                         show what it touched",
            "  blackbox verify last                          prove it, offline",
            "  blackbox replay last                          replay it, and compare"
        },
        synopsisSubcommandLabel = "COMMAND")
public final class Main {
    private static final String RECORD = "record";

    private Main() {}

    public static void main(String[] args) {
        String[] given = given(args);
        guard(given);
        end(answer(given));
    }

    /// Keeps other processes of this user out of this one. Without that, `record` ends the program; every
    /// other command says so and goes on. What only prints about the program itself needs none.
    static void guard(String... given) {
        if (given.length == 0 || given[0].startsWith("-")) {
            return;
        }
        try {
            GivenEnvironment.keep();
            Undumpable.become();
        } catch (IOException e) {
            boolean record = isRecord(given);
            System.err.println("blackbox: other processes of this user may look into this one: " + e.getMessage()
                    + (record ? "; nothing is recorded like that" : ""));
            if (record) {
                System.exit(ExitCodes.RECORD_FAILED);
            }
        }
    }

    /// Runs a command line and returns its exit code. An answer that could not be written to standard output in
    /// full counts as a failure.
    static int answer(String... args) {
        var output = new StandardOutput(new FileOutputStream(FileDescriptor.out));
        System.setOut(output.stream(System.out.charset()));
        int ended = run(args);
        System.out.flush();
        return output.code(ended, isRecord(args), System.err);
    }

    /// Ends the program.
    static void end(int code) {
        if (code == ExitCodes.OK && isLastThread()) {
            return; // System.exit first searches the whole class path for a logger that wants to record it
        }
        // On another thread: when a signal ends the program, hooks wait for this thread, and an exit waits
        // for the hooks.
        Thread.ofPlatform().name("exit").start(() -> System.exit(code));
    }

    /// Whether the program ends when this thread does: all others are daemons.
    private static boolean isLastThread() {
        return Thread.getAllStackTraces().keySet().stream()
                .allMatch(each -> each.isDaemon() || each.equals(Thread.currentThread()));
    }

    /// The arguments as they were given, octet for octet: those of the command line and those that the
    /// launcher has passed elsewhere. From then on nobody else can read them, except for the first one, the
    /// command's name.
    static String[] given(String[] args) {
        var given = new ArrayList<>(List.of(args));
        try {
            given = new ArrayList<>(List.of(GivenArguments.of(args)));
        } catch (IOException e) {
            System.err.println("blackbox: arguments that are not text may be altered: " + e.getMessage());
        }
        try {
            if (args.length > 1) {
                HiddenArguments.hide(args.length - 1);
            }
        } catch (IOException e) {
            System.err.println("blackbox: while this runs, every user of this host can read its arguments (ps): "
                    + e.getMessage());
        }
        try {
            given.addAll(PassedArguments.take());
        } catch (IOException e) {
            System.err.println("blackbox: the launcher's arguments cannot be taken from the environment: "
                    + e.getMessage() + "; run the program without it: java -jar");
            System.exit(isRecord(args) ? ExitCodes.RECORD_FAILED : ExitCodes.FAILED);
        }
        return given.toArray(String[]::new);
    }

    static int run(String... args) {
        Ed25519Verifier.useShortcut(Openssl::load);
        try {
            return commandLine(args).execute(args);
        } catch (Error e) {
            // Out of memory, for example: the command itself failed, so the exit code must not be a verdict.
            e.printStackTrace();
            return isRecord(args) ? ExitCodes.RECORD_FAILED : ExitCodes.FAILED;
        }
    }

    private static boolean isRecord(String... args) {
        return args.length > 0 && args[0].equals(RECORD);
    }

    /// The command line, with only the commands that `args` need.
    static CommandLine commandLine(String... args) {
        // It would search the whole class path for Groovy.
        System.setProperty("picocli.disable.closures", "true");
        // The logger that comes with Kafka's broker complains of what it cannot do while the program ends.
        System.setProperty("log4j2.StatusLogger.level", "OFF");
        // A TLS 1.2 client could ask for handshake after handshake; the JDK reads this at the first one only.
        System.setProperty("jdk.tls.rejectClientInitiatedRenegotiation", "true");
        // An argument @FILE belongs to the command: picocli would replace it with the file's words.
        CommandLine all = Commands.addTo(new CommandLine(new Main()), args)
                .setExpandAtFiles(false)
                .setExecutionExceptionHandler(Main::explain);
        IParameterExceptionHandler usual = all.getParameterExceptionHandler();
        return all.setParameterExceptionHandler((wrong, given) -> {
            if (wrong.getCommandLine().getParent() != null || given.length < 2 || !given[0].startsWith("-")) {
                return usual.handleParseException(wrong, given);
            }
            all.getErr().println("blackbox: options stand behind the command, as in: blackbox runs --json");
            return ExitCodes.BAD_INPUT;
        });
    }

    /// One sentence for people; the stack trace only for unforeseen failures, or with BLACKBOX_TRACE set.
    private static int explain(Exception failure, CommandLine command, ParseResult parsed) {
        PrintWriter err = command.getErr();
        if (System.getenv("BLACKBOX_TRACE") != null) {
            failure.printStackTrace(err);
        }
        boolean record = command.getCommandName().equals(RECORD);
        int exitCode = switch (failure) {
            case CommandException e -> e.exitCode();
            case VmException e ->
                switch (e.code()) {
                    case IMAGE_UNKNOWN, IMAGE_DEFINITION, PACKAGE_REFUSED, ARCHIVE_REFUSED, WORKSPACE_UNREADABLE ->
                        ExitCodes.BAD_INPUT;
                    case ARCHIVE_ALTERED -> ExitCodes.DOES_NOT_HOLD;
                    default -> ExitCodes.FAILED;
                };
            case IngestException e -> ExitCodes.FAILED;
            case RecorderException e -> ExitCodes.FAILED;
            case QueryException e ->
                switch (e.code()) {
                    case BAD_INPUT, NOT_FOUND -> ExitCodes.BAD_INPUT;
                    case STORE, ENGINE -> ExitCodes.FAILED;
                };
            case EvidenceException e -> ExitCodes.BAD_INPUT;
            case ReportException e -> ExitCodes.FAILED;
            case TravelException e ->
                switch (e.code()) {
                    case BAD_INPUT -> ExitCodes.BAD_INPUT;
                    case ALTERED -> ExitCodes.DOES_NOT_HOLD;
                    case DISK_FULL, FAILED -> ExitCodes.FAILED;
                };
            case ReplayException e ->
                switch (e.code()) {
                    case BAD_INPUT -> ExitCodes.BAD_INPUT;
                    case MISSING, ALTERED, PARTED -> ExitCodes.DOES_NOT_HOLD;
                    case ENGINE -> ExitCodes.FAILED;
                };
            case IOException e -> ExitCodes.FAILED;
            case InterruptedException e -> ExitCodes.FAILED;
            case UncheckedIOException e -> ExitCodes.FAILED;
            default -> {
                failure.printStackTrace(err);
                yield ExitCodes.FAILED;
            }
        };
        err.println("blackbox: " + sentence(failure));
        return record && exitCode == ExitCodes.FAILED ? ExitCodes.RECORD_FAILED : exitCode;
    }

    /// The failure's message, with those of its causes that add something.
    private static String sentence(Throwable failure) {
        var text = new StringBuilder();
        for (Throwable each = failure; each != null; each = each.getCause()) {
            String message = each.getMessage();
            String name = each instanceof InterruptedException
                    ? "interrupted"
                    : each.getClass().getSimpleName();
            String part = message == null ? name : message;
            if (text.indexOf(part) < 0) {
                text.append(text.isEmpty() ? "" : ": ").append(part);
            }
        }
        return text.toString();
    }
}
