package blackbox.cli.options;

import blackbox.evidence.store.Recordings;
import blackbox.query.QueryException;
import blackbox.query.run.RunNames;
import blackbox.schemas.RunId;
import picocli.CommandLine.Parameters;

/// The run that a command applies to; add it as `@Mixin`.
public final class RunArgument {

    @Parameters(
            index = "0",
            paramLabel = "RUN",
            description = "A run's id, a unique prefix of it, its name, or `last`.")
    private String said = "last";

    /// As it was typed.
    public String said() {
        return said;
    }

    /// Whether the newest run is meant.
    public boolean isLast() {
        return said.equals("last");
    }

    public RunId resolve(Recordings recordings) throws QueryException {
        return ImportNotice.print(recordings, RunNames.resolve(recordings, said));
    }

    /// The same, but a complete id is accepted even if nothing is left of that run: that is a verdict too.
    public RunId resolveAlsoLost(Recordings recordings) throws QueryException {
        return ImportNotice.print(recordings, RunNames.resolveAlsoLost(recordings, said));
    }
}
