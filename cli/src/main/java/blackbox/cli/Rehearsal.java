package blackbox.cli;

import blackbox.cli.exit.ExitCodes;

/// Runs several command lines in one process, one after the other; each is one argument, its words separated
/// by single spaces. The build makes the start-up cache from such a run, since the JVM makes a cache from one
/// process (`scripts/start-up-cache`). Ends with the first exit code that is not 0.
final class Rehearsal {
    private Rehearsal() {}

    public static void main(String[] args) {
        int code = ExitCodes.OK;
        String[] given = Main.given(args);
        Main.guard("rehearsal");
        for (String commandLine : given) {
            code = Main.answer(commandLine.split(" ", -1));
            if (code != ExitCodes.OK) {
                System.err.println("rehearsal: exit code " + code + " of: blackbox " + commandLine);
                break;
            }
        }
        Main.end(code);
    }
}
