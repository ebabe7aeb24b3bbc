package blackbox.cli.terminal;

import blackbox.cli.exit.CommandException;
import blackbox.vm.machine.Terminal;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

/// The terminal in which this program runs, by stty(1): its size, and raw mode, in which every key goes to the
/// agent.
public final class LocalTerminal implements AutoCloseable {

    private static final long PATIENCE_SECONDS = 5;

    private final String asItWas;
    private final Thread onExit = new Thread(this::restore, "terminal");
    private final Object telling = new Object();
    private boolean raw;
    private boolean over;

    private LocalTerminal(String asItWas) {
        this.asItWas = asItWas;
    }

    /// The terminal that standard input is.
    ///
    /// @throws CommandException when standard input is not a terminal
    public static LocalTerminal ofStandardInput() {
        try {
            return new LocalTerminal(stty("-g").strip());
        } catch (IOException _) {
            throw CommandException.badInput("--tty needs a terminal, and standard input is not one; leave out --tty");
        }
    }

    /// Its current size and its type.
    public Terminal shape() throws IOException {
        String[] size = stty("size").strip().split(" ");
        int rows = Math.max(1, Integer.parseInt(size[0]));
        int columns = Math.max(1, Integer.parseInt(size[1]));
        String type = System.getenv().getOrDefault("TERM", "dumb");
        try {
            return new Terminal(rows, columns, type);
        } catch (IllegalArgumentException _) {
            return new Terminal(rows, columns, "dumb");
        }
    }

    /// From now on every octet typed goes to the agent as it is, until [#restore] or until this process ends.
    public synchronized void makeRaw() {
        if (over) {
            return;
        }
        raw = true;
        Runtime.getRuntime().addShutdownHook(onExit);
        try {
            String unused = stty("raw", "-echo");
        } catch (IOException e) {
            System.err.println(
                    "blackbox: the terminal could not be put into raw mode, so the agent gets whole lines only: "
                            + e.getMessage());
        }
    }

    /// Restores the terminal's settings; raw mode cannot be entered again afterwards.
    public synchronized void restore() {
        over = true;
        if (raw) {
            raw = false;
            try {
                String unused = stty(asItWas);
            } catch (IOException e) {
                System.err.println("blackbox: the terminal could not be restored; run: stty sane");
            }
        }
    }

    /// Passes rows and columns to `sizes`, at once and whenever they change, until the result is closed. The newest
    /// ones come last, although each signal is handled on a thread of its own.
    public Signals onResize(BiConsumer<Integer, Integer> sizes) {
        Signals signals = Signals.on(List.of("WINCH"), _ -> tell(sizes));
        tell(sizes);
        return signals;
    }

    private void tell(BiConsumer<Integer, Integer> sizes) {
        synchronized (telling) {
            try {
                Terminal now = shape();
                sizes.accept(now.rows(), now.columns());
            } catch (IOException e) {
                System.err.println("blackbox: the terminal's size cannot be read: " + e.getMessage() + "\r");
            }
        }
    }

    private static String stty(String... arguments) throws IOException {
        var command = new ArrayList<>(List.of("stty"));
        command.addAll(List.of(arguments));
        Process stty;
        try {
            stty = new ProcessBuilder(command)
                    .redirectInput(ProcessBuilder.Redirect.INHERIT)
                    .start();
        } catch (IOException e) {
            throw CommandException.failed("--tty needs stty(1), which cannot be started: install coreutils", e);
        }
        try {
            // One line, which fits in the pipe. A background process is stopped when it changes the terminal.
            if (!stty.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                throw new IOException("stty does not finish; is this process in the background?");
            }
            if (stty.exitValue() != 0) {
                throw new IOException("stty " + String.join(" ", arguments) + " failed");
            }
            return new String(stty.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        } finally {
            stty.destroyForcibly();
        }
    }

    @Override
    public void close() {
        restore();
    }
}
