package blackbox.report;

import blackbox.evidence.verify.Verification;
import blackbox.query.answer.RunSummary;
import blackbox.query.brief.TouchedInBrief;
import blackbox.schemas.RunId;
import java.time.Instant;

/// What a report says.
///
/// @param program what made it, with its version
public record ReportFacts(
        RunId run,
        RunSummary summary,
        Verification verification,
        TouchedInBrief touched,
        ControlMap controls,
        Instant madeAt,
        String program) {}
