package blackbox.cli.guard;

import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;

/// What a process can try on another one of its user: reads its memory, environment, descriptors and mappings, traces
/// it, and has its JVM load an agent. Prints a line for each, `refused` or `done`. Its arguments are process ids.
final class SameUser {
    private static final int PTRACE_SEIZE = 0x4206;

    private SameUser() {}

    public static void main(String[] args) throws Throwable {
        for (String pid : args.length == 0 ? new String[] {own()} : args) {
            Path process = Path.of("/proc", pid);
            attempt(
                    "read mem",
                    () -> Files.newByteChannel(process.resolve("mem"), StandardOpenOption.READ)
                            .close());
            attempt(
                    "write mem",
                    () -> Files.newByteChannel(process.resolve("mem"), StandardOpenOption.WRITE)
                            .close());
            attempt("read environ", () -> Files.readAllBytes(process.resolve("environ")));
            attempt("read maps", () -> Files.readAllBytes(process.resolve("maps")));
            attempt("list fd", () -> list(process.resolve("fd")));
            attempt("read the link exe", () -> Files.readSymbolicLink(process.resolve("exe")));
            attempt("jcmd", () -> jcmd(pid));
            trace(Integer.parseInt(pid));
        }
    }

    private static String own() {
        return String.valueOf(ProcessHandle.current().pid());
    }

    private interface Attempt {
        void make() throws Exception;
    }

    private static void attempt(String what, Attempt attempt) {
        try {
            attempt.make();
            System.out.println("done: " + what);
        } catch (Exception e) {
            System.out.println("refused: " + what);
        }
    }

    private static void list(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            for (Path each : files.limit(3).toList()) {
                Files.readSymbolicLink(each);
            }
        }
    }

    private static void jcmd(String pid) throws Exception {
        Process jcmd = new ProcessBuilder(List.of(System.getProperty("java.home") + "/bin/jcmd", pid, "VM.version"))
                .redirectErrorStream(true)
                .start();
        jcmd.getInputStream().readAllBytes();
        if (jcmd.waitFor() != 0) {
            throw new IOException("refused");
        }
    }

    /// A process cannot trace itself, so its own child stands for one that can be traced.
    @SuppressWarnings("restricted") // the signature is ptrace(2)'s
    private static void trace(int pid) throws Throwable {
        boolean self = pid == ProcessHandle.current().pid();
        Process child = self ? new ProcessBuilder("sleep", "600").start() : null;
        try {
            Linker linker = Linker.nativeLinker();
            var ptrace = linker.downcallHandle(
                    linker.defaultLookup().findOrThrow("ptrace"),
                    FunctionDescriptor.of(
                            ValueLayout.JAVA_LONG,
                            ValueLayout.JAVA_INT,
                            ValueLayout.JAVA_INT,
                            ValueLayout.JAVA_LONG,
                            ValueLayout.JAVA_LONG),
                    Linker.Option.firstVariadicArg(1));
            long result = (long) ptrace.invokeExact(PTRACE_SEIZE, child == null ? pid : (int) child.pid(), 0L, 0L);
            System.out.println((result == 0 ? "done" : "refused") + ": trace");
        } finally {
            if (child != null) {
                child.destroyForcibly();
            }
        }
    }
}
