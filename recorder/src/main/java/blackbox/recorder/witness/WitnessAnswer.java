package blackbox.recorder.witness;

import blackbox.evidence.log.SignedNote;
import blackbox.evidence.witness.WitnessVerdict;

/// What a witness answers over HTTP (C2SP tlog-witness, "add-checkpoint").
///
/// @param body text that ends in a newline
public record WitnessAnswer(int status, String contentType, String body) {

    /// The media type of an answer that states which size the witness knows.
    public static final String SIZE_TYPE = "text/x.tlog.size";

    private static final String TEXT_TYPE = "text/plain; charset=utf-8";

    static WitnessAnswer cosigned(SignedNote.Signature line) {
        return new WitnessAnswer(WitnessVerdict.COSIGN.status(), TEXT_TYPE, line.line());
    }

    static WitnessAnswer conflict(long size) {
        return new WitnessAnswer(WitnessVerdict.CONFLICT.status(), SIZE_TYPE, size + "\n");
    }

    static WitnessAnswer malformed() {
        return new WitnessAnswer(
                400, TEXT_TYPE, "the body is not 'old <size>', proof lines, an empty line and a signed checkpoint\n");
    }

    static WitnessAnswer refused(WitnessVerdict verdict) {
        String why = switch (verdict) {
            case UNKNOWN_LOG -> "this witness does not know a log of that origin";
            case NOT_SIGNED -> "the checkpoint has no valid signature of a key that this witness knows for the log";
            case BACKWARDS -> "the old size is above the checkpoint's";
            case INCONSISTENT -> "the proof does not lead from the checkpoint that was cosigned last to this one";
            case COSIGN, CONFLICT -> throw new IllegalArgumentException(verdict + " has another form of answer");
        };
        return new WitnessAnswer(verdict.status(), TEXT_TYPE, why + "\n");
    }
}
