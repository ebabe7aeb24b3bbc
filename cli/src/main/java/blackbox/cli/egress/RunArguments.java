package blackbox.cli.egress;

import blackbox.cli.options.ImportNotice;
import blackbox.evidence.store.Recordings;
import blackbox.query.QueryException;
import blackbox.query.egress.EgressCollector;
import blackbox.query.egress.RecordedEgress;
import blackbox.query.run.RunNames;
import blackbox.schemas.RunId;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;

/// Several runs that a command is about.
final class RunArguments {

    private RunArguments() {}

    /// What each of them sent out, each run once.
    ///
    /// @throws QueryException when there is no such run
    static List<RecordedEgress> egress(Recordings recordings, List<String> said) throws QueryException, IOException {
        var runs = new LinkedHashSet<RunId>();
        for (String each : said) {
            runs.add(ImportNotice.print(recordings, RunNames.resolve(recordings, each)));
        }
        var egress = new ArrayList<RecordedEgress>();
        for (RunId run : runs) {
            egress.add(EgressCollector.collect(recordings, run));
        }
        return egress;
    }
}
