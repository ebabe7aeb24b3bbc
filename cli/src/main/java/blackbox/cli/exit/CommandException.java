package blackbox.cli.exit;

import org.jspecify.annotations.Nullable;

/// Ends a command with an exit code and one sentence on standard error.
public final class CommandException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int exitCode;

    private CommandException(int exitCode, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.exitCode = exitCode;
    }

    /// The user asked for something impossible: exit 2.
    public static CommandException badInput(String message) {
        return new CommandException(ExitCodes.BAD_INPUT, message, null);
    }

    /// Something failed in operation: exit 3.
    public static CommandException failed(String message, @Nullable Throwable cause) {
        return new CommandException(ExitCodes.FAILED, message, cause);
    }

    public int exitCode() {
        return exitCode;
    }
}
