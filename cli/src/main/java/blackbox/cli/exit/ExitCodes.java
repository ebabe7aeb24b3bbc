package blackbox.cli.exit;

/// The exit codes of the command-line contract.
public final class ExitCodes {

    /// Done, and what was checked holds.
    public static final int OK = 0;

    /// Done, and what was checked does not hold.
    public static final int DOES_NOT_HOLD = 1;

    /// Usage or bad input.
    public static final int BAD_INPUT = 2;

    /// An operating failure: disk, broker, VM.
    public static final int FAILED = 3;

    /// `record` only: Blackbox itself failed; other codes are the agent's.
    public static final int RECORD_FAILED = 125;

    private ExitCodes() {}
}
