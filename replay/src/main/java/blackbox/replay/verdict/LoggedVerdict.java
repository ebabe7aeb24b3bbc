package blackbox.replay.verdict;

import blackbox.evidence.tiles.CheckedLog;
import blackbox.evidence.trust.ReplayNote;
import blackbox.replay.verdict.VerdictStore.Document;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A verdict on a replay of a run, and what vouches for it: the leaf in the log of runs, the document, or
/// both. Only both together are evidence.
///
/// @param note what the log holds, or null
/// @param index of its leaf, -1 where there is none
/// @param document the file, or null
/// @param verdict the content of the document, or null if there is none or it is not valid
/// @param fault why it is not evidence, or null if it is
public record LoggedVerdict(
        @Nullable ReplayNote note,
        long index,
        @Nullable Document document,
        @Nullable Verdict verdict,
        @Nullable String fault) {

    /// Joins the leaves of a log that holds with the documents of the same run, in the log's order; documents
    /// that no leaf names come last.
    public static List<LoggedVerdict> join(List<CheckedLog.Replayed> leaves, List<Document> documents) {
        var joined = new ArrayList<LoggedVerdict>();
        Set<Document> used = new HashSet<>();
        for (CheckedLog.Replayed leaf : leaves) {
            Document document = documents.stream()
                    .filter(each -> each.sha256().equals(leaf.verdict().document()))
                    .findFirst()
                    .orElse(null);
            if (document != null) {
                used.add(document);
            }
            joined.add(of(leaf, document));
        }
        for (Document each : documents) {
            if (!used.contains(each)) {
                String fault = "the log of runs does not contain it: it was never signed, or was changed";
                joined.add(new LoggedVerdict(null, -1, each, VerdictJson.decode(each.octets()), fault));
            }
        }
        return joined;
    }

    private static LoggedVerdict of(CheckedLog.Replayed leaf, @Nullable Document document) {
        ReplayNote note = leaf.verdict();
        Verdict verdict = document == null ? null : VerdictJson.decode(document.octets());
        String fault = null;
        if (document == null) {
            fault = "its document is missing, or was changed";
        } else if (verdict == null) {
            fault = "its document is not valid, or has an unknown version";
        } else if (!verdict.run().equals(note.run())
                || verdict.tier() != note.tier()
                || verdict.outcome() != note.outcome()) {
            fault = "its document contradicts the log of runs";
        }
        return new LoggedVerdict(note, leaf.index(), document, verdict, fault);
    }
}
