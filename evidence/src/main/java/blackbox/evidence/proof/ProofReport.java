package blackbox.evidence.proof;

import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.TrustPolicy.Cosigned;
import blackbox.evidence.text.Printable;
import blackbox.evidence.text.Timestamps;
import blackbox.evidence.verify.VerificationReport;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A [ProofVerdict] in the form of the command-line contract: the fields that every verification has, and
/// `proof`.
public final class ProofReport {

    private ProofReport() {}

    /// Writes one object.
    public static void write(JsonGenerator out, ProofVerdict verdict) throws IOException {
        out.writeStartObject();
        VerificationReport.writeFields(out, verdict.verification());
        out.writeObjectFieldStart("proof");
        out.writeStringField("format", EventProof.FORMAT);
        out.writeBooleanField("holds", verdict.holds());
        out.writeBooleanField("whole", verdict.whole());
        EventProof proof = verdict.proof();
        out.writeStringField("run", proof == null ? null : proof.run().value());
        if (proof == null) {
            out.writeNullField("index");
        } else {
            out.writeNumberField("index", proof.index());
        }
        out.writeStringField("kind", verdict.kind());
        out.writeStringField("at", at(verdict));
        checkpoint(out, "runCheckpoint", verdict.run());
        checkpoint(out, "logCheckpoint", verdict.log());
        out.writeArrayFieldStart("cosigned");
        for (Cosigned witness : verdict.cosigned()) {
            out.writeStartObject();
            out.writeStringField("witness", witness.witness());
            out.writeStringField("at", time(witness));
            out.writeEndObject();
        }
        out.writeEndArray();
        texts(out, "stamped", verdict.stamped());
        texts(out, "limits", verdict.limits());
        out.writeEndObject();
        out.writeEndObject();
    }

    private static void checkpoint(JsonGenerator out, String name, @Nullable Checkpoint checkpoint) throws IOException {
        out.writeFieldName(name);
        if (checkpoint == null) {
            out.writeNull();
            return;
        }
        out.writeStartObject();
        out.writeStringField("origin", checkpoint.origin());
        out.writeNumberField("size", checkpoint.size());
        out.writeStringField("root", checkpoint.root().toString());
        out.writeEndObject();
    }

    private static void texts(JsonGenerator out, String name, List<String> texts) throws IOException {
        out.writeArrayFieldStart(name);
        for (String text : texts) {
            out.writeString(text);
        }
        out.writeEndArray();
    }

    private static @Nullable String at(ProofVerdict verdict) {
        return verdict.atNs() == 0 ? null : Timestamps.format(verdict.atNs());
    }

    /// When a witness says that it saw the checkpoint; null if it states no time.
    private static @Nullable String time(Cosigned witness) {
        return witness.epochSeconds() == 0 ? null : Timestamps.format(Instant.ofEpochSecond(witness.epochSeconds()));
    }

    /// Prints the verdict for people.
    public static void print(PrintWriter out, ProofVerdict verdict) {
        EventProof proof = verdict.proof();
        if (proof != null) {
            String kind = verdict.kind();
            out.println("event         " + proof.index() + " of run " + proof.run() + (kind == null ? "" : "  " + kind)
                    + (verdict.atNs() == 0 ? "" : "  " + at(verdict)));
        }
        out.println("proof         " + (verdict.holds() ? "holds" : "does not hold"));
        VerificationReport.print(
                out, verdict.verification(), "UNKNOWN  (of the run: a proof shows one event, and nothing else)");
        for (Cosigned witness : verdict.cosigned()) {
            out.println("  witness " + Printable.of(witness.witness()) + " saw the log of runs at " + time(witness));
        }
        verdict.stamped().forEach(stamp -> out.println("  stamped " + Printable.of(stamp)));
        verdict.limits().forEach(limit -> out.println("  limit: " + limit));
    }
}
