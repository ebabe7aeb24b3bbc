package blackbox.node.verdict;

import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.TransparencyLogReader;
import blackbox.evidence.text.Printable;
import blackbox.evidence.text.Timestamps;
import blackbox.evidence.tiles.CheckedLog;
import blackbox.evidence.trust.ReplayNote;
import blackbox.replay.verdict.Levels;
import blackbox.replay.verdict.LoggedVerdict;
import blackbox.replay.verdict.Verdict;
import blackbox.replay.verdict.VerdictJson;
import blackbox.replay.verdict.VerdictStore;
import blackbox.replay.verdict.VerdictStore.Document;
import blackbox.schemas.RunId;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The verdicts on replays of a run, each with whether it is evidence, as `show` prints them.
public final class VerdictList {

    private static final int WHOLE_MAX = 20;
    private static final ObjectMapper JSON = new ObjectMapper();

    private VerdictList() {}

    /// Reads the log of runs and the documents.
    ///
    /// @param trusted the keys that are trusted initially
    public static List<LoggedVerdict> read(Recordings recordings, RunId run, List<? extends NoteVerifier> trusted)
            throws IOException {
        return find(recordings, run, trusted).verdicts();
    }

    /// The verdicts, and how the log of runs is that has to hold them.
    ///
    /// @param log `holds`, `absent` or `broken`: without it there is no evidence
    public record Found(String log, List<LoggedVerdict> verdicts) {
        public Found {
            verdicts = List.copyOf(verdicts);
        }
    }

    /// As [#read].
    public static Found find(Recordings recordings, RunId run, List<? extends NoteVerifier> trusted)
            throws IOException {
        List<Document> documents = new VerdictStore(recordings.data()).list(run);
        return switch (CheckedLog.read(new TransparencyLogReader(recordings.log()), trusted, run)) {
            case CheckedLog.Holds holds ->
                new Found("holds", LoggedVerdict.join(holds.log().replays(), documents));
            case CheckedLog.Absent _ -> new Found("absent", LoggedVerdict.join(List.of(), documents));
            case CheckedLog.Broken _ -> new Found("broken", LoggedVerdict.join(List.of(), documents));
        };
    }

    /// Writes a JSON array.
    public static void write(JsonGenerator out, List<LoggedVerdict> verdicts) throws IOException {
        out.writeStartArray();
        for (LoggedVerdict each : verdicts) {
            Document document = each.document();
            out.writeStartObject();
            writeFields(out, each);
            out.writeStringField(
                    "document", document == null ? null : document.file().toString());
            out.writeEndObject();
        }
        out.writeEndArray();
    }

    /// Writes an object; of the last verdicts, as far as they are evidence, with all that their documents say.
    public static void writeWhole(JsonGenerator out, Found found) throws IOException {
        List<LoggedVerdict> verdicts = found.verdicts();
        out.writeStartObject();
        out.writeStringField("log", found.log());
        out.writeArrayFieldStart("verdicts");
        for (int at = 0; at < verdicts.size(); at++) {
            LoggedVerdict each = verdicts.get(at);
            out.writeStartObject();
            writeFields(out, each);
            Verdict verdict = each.verdict();
            if (verdict != null && each.fault() == null && at >= verdicts.size() - WHOLE_MAX) {
                out.writeFieldName("said");
                JSON.writeTree(out, VerdictJson.tree(verdict));
            }
            out.writeEndObject();
        }
        out.writeEndArray();
        out.writeEndObject();
    }

    private static void writeFields(JsonGenerator out, LoggedVerdict each) throws IOException {
        ReplayNote note = each.note();
        Verdict verdict = each.verdict();
        out.writeStringField("at", at(note, verdict));
        out.writeStringField(
                "tier",
                note != null
                        ? note.tier().word()
                        : verdict != null ? verdict.tier().word() : null);
        out.writeStringField("verdict", outcome(note, verdict));
        Levels levels =
                each.fault() == null && verdict != null ? verdict.comparison().levels() : Levels.UNKNOWN;
        out.writeStringField("equivalence", levels.word());
        out.writeNumberField("pathDifferences", levels.pathDifferences());
        out.writeNumberField("effectDifferences", levels.effectDifferences());
        if (note == null) {
            out.writeNullField("leaf");
        } else {
            out.writeNumberField("leaf", each.index());
        }
        out.writeStringField("fault", each.fault());
    }

    /// Prints a line for each.
    public static void print(PrintWriter out, List<LoggedVerdict> verdicts) {
        for (LoggedVerdict each : verdicts) {
            String fault = each.fault();
            String at = at(each.note(), each.verdict());
            Verdict verdict = fault == null ? each.verdict() : null;
            out.println("replayed      " + outcome(each.note(), each.verdict())
                    + (verdict == null ? "" : LevelText.of(verdict.comparison().levels())) + "  "
                    + (at == null ? "at an unknown time" : at) + "  "
                    + (fault == null
                            ? "signed, leaf " + each.index() + " of the log of runs"
                            : "NOT EVIDENCE: " + Printable.of(fault)));
        }
    }

    private static String outcome(@Nullable ReplayNote note, @Nullable Verdict verdict) {
        return note != null
                ? note.outcome().name()
                : verdict != null ? verdict.outcome().name() : "UNREADABLE";
    }

    private static @Nullable String at(@Nullable ReplayNote note, @Nullable Verdict verdict) {
        return note != null ? Timestamps.format(note.at()) : verdict != null ? Timestamps.format(verdict.at()) : null;
    }
}
