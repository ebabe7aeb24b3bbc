package blackbox.cli.guard;

import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/// Makes this process one that leaves no core and that other processes of its user can neither trace nor look into:
/// its memory, environment and descriptors in `/proc/PID` belong to root (PR_SET_DUMPABLE in prctl(2), ptrace(2)).
///
/// It cannot open its own `/proc/self/mem` and `/proc/self/environ` any more either, unless it is root's. Programs
/// that it starts are dumpable again.
public final class Undumpable {
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final String TRACER = "TracerPid:";

    private static final int PR_SET_DUMPABLE = 4;
    private static final long NOT_DUMPABLE = 0;

    private Undumpable() {}

    /// From now on nobody but root looks into this process.
    ///
    /// @throws IOException when the kernel refuses that, or another process traces this one already
    public static void become() throws IOException {
        int refused = prctl(PR_SET_DUMPABLE, NOT_DUMPABLE);
        if (refused != 0) {
            throw new IOException("the kernel refuses prctl(PR_SET_DUMPABLE); a seccomp filter may be the reason");
        }
        // Who traces it already, goes on.
        refuseTraced(Files.readString(STATUS, StandardCharsets.ISO_8859_1));
    }

    /// @param status as in proc_pid_status(5)
    static void refuseTraced(String status) throws IOException {
        String tracer = status.lines()
                .filter(line -> line.startsWith(TRACER))
                .map(line -> line.substring(TRACER.length()).strip())
                .findFirst()
                .orElseThrow(() -> new IOException(STATUS + " does not say whether this process is traced"));
        if (!tracer.equals("0")) {
            throw new IOException("process " + tracer + " traces it; start it without a debugger or strace");
        }
    }

    @SuppressWarnings("restricted") // the signature is prctl(2)'s
    private static int prctl(int option, long value) {
        Linker linker = Linker.nativeLinker();
        MethodHandle prctl = linker.downcallHandle(
                linker.defaultLookup().findOrThrow("prctl"),
                FunctionDescriptor.of(
                        ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_LONG),
                Linker.Option.firstVariadicArg(1));
        try {
            return (int) prctl.invokeExact(option, value, 0L, 0L, 0L);
        } catch (Throwable e) {
            throw new IllegalStateException("prctl(2) cannot be called", e);
        }
    }
}
