package blackbox.report;

import blackbox.evidence.store.Recordings;
import blackbox.evidence.verify.Verification;
import blackbox.query.QueryException;
import blackbox.query.answer.RunSummary;
import blackbox.query.brief.TouchedInBrief;
import blackbox.query.run.ImportCaution;
import blackbox.query.run.RunFacts;
import blackbox.schemas.RunId;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What a report says.
///
/// @param replays a line for each replay, as `show` prints it
/// @param limits what may not have been seen, and what of the rest is not verified, the gravest first
/// @param program what made it, with its version
public record ReportFacts(
        RunId run,
        RunSummary summary,
        Verification verification,
        TouchedInBrief touched,
        ControlMap controls,
        List<String> replays,
        List<String> limits,
        Instant madeAt,
        String program) {

    /// How often a run that is being written is read again, for answers that are of one moment.
    private static final int ROUNDS = 3;

    public ReportFacts {
        replays = List.copyOf(replays);
        limits = List.copyOf(limits);
    }

    /// Verifies a run.
    @FunctionalInterface
    public interface Verifier {
        Verification verify() throws IOException;
    }

    /// Verifies and reads a run. Where it grows meanwhile, the limits say of how much of it each answer is.
    public static ReportFacts collect(
            Recordings recordings, RunId run, Verifier verifier, List<String> replays, Instant madeAt, String program)
            throws IOException, QueryException {
        for (int round = 1; ; round++) {
            RunFacts before = RunFacts.read(recordings, run);
            Verification verification = verifier.verify();
            RunSummary summary = RunSummary.read(recordings, run);
            TouchedInBrief touched = TouchedInBrief.collect(recordings, run);
            RunFacts after = RunFacts.read(recordings, run);
            boolean still = before.events() == after.events() && before.state() == after.state();
            if (still || round == ROUNDS) {
                var limits = limits(summary.facts(), verification, still ? null : after);
                String caution = ImportCaution.of(recordings, run);
                if (caution != null) {
                    limits.add(caution);
                }
                limits.addAll(touched.brief().limits());
                return new ReportFacts(
                        run,
                        summary,
                        verification,
                        touched,
                        ControlMap.of(run, verification, madeAt),
                        replays,
                        limits,
                        madeAt,
                        program);
            }
        }
    }

    private static List<String> limits(RunFacts facts, Verification verification, @Nullable RunFacts grown) {
        var limits = new ArrayList<String>();
        if (verification.integrity() == Verification.Integrity.TAMPERED) {
            limits.add("the record was changed after it was sealed, so what this report tells of the run may be false");
        }
        if (grown != null) {
            limits.add("the run was written while this report was made, and had " + grown.events()
                    + " events by then: parts of the report are of different moments");
        }
        if (verification.events() < facts.events()) {
            limits.add("only the first " + verification.events() + " events are verified, and this report tells of "
                    + facts.events());
        }
        if (facts.fault() != null) {
            limits.add("not all of the record can be read, and what is told is of what could be: " + facts.fault());
        }
        return limits;
    }
}
