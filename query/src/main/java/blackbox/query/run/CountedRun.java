package blackbox.query.run;

import blackbox.evidence.parquet.MalformedParquetException;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.RunReader;
import blackbox.evidence.verify.EventAccount;
import blackbox.evidence.verify.Losses;
import blackbox.schemas.RunId;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;

/// A run's facts, with what is lost of it. The facts are at its ends; for the losses all its rows are read.
public record CountedRun(RunFacts facts, Losses losses) {

    /// Reads it as it is now.
    public static CountedRun read(Recordings recordings, RunId run) throws IOException {
        return of(recordings, RunFacts.read(recordings, run));
    }

    /// All runs of agents that are here, and all that should be, by when they began.
    public static List<CountedRun> all(Recordings recordings) throws IOException {
        return of(recordings, RunFacts.ofAgents(recordings));
    }

    /// The same with the service's own records.
    public static List<CountedRun> withServices(Recordings recordings) throws IOException {
        return of(recordings, RunFacts.all(recordings));
    }

    private static List<CountedRun> of(Recordings recordings, List<RunFacts> runs) throws IOException {
        var all = new ArrayList<CountedRun>();
        for (RunFacts facts : runs) {
            all.add(of(recordings, facts));
        }
        return all;
    }

    /// With what is lost of the run with these facts.
    public static CountedRun of(Recordings recordings, RunFacts facts) throws IOException {
        if (facts.state() == RunState.MISSING) {
            return new CountedRun(facts, Losses.NOT_KNOWN);
        }
        try {
            return new CountedRun(facts, losses(recordings, facts));
        } catch (NoSuchFileException e) {
            return new CountedRun(facts, losses(recordings, facts)); // ingest has replaced it with another file
        }
    }

    /// Of a run that cannot be read to its end, as far as it can be.
    private static Losses losses(Recordings recordings, RunFacts facts) throws IOException {
        var account = new EventAccount();
        try (RunReader reader = RunReader.open(recordings, facts.run(), 0, EventAccount.COLUMNS)) {
            while (reader.next()) {
                account.see(reader.index(), reader.row());
            }
        } catch (MalformedParquetException e) {
            return account.losses(false);
        }
        return account.losses(facts.state() == RunState.OPEN);
    }
}
