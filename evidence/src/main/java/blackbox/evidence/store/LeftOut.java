package blackbox.evidence.store;

import blackbox.schemas.RunId;

/// A file in a run's folder that answers leave out, or events that are missing.
///
/// @param file its name in the run's folder, or which events
/// @param why what is wrong with it
public record LeftOut(RunId run, String file, String why) {

    /// As a sentence.
    @Override
    public String toString() {
        return "left out " + file + " of run " + run + ": " + why;
    }
}
