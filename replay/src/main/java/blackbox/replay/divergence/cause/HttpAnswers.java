package blackbox.replay.divergence.cause;

import blackbox.evidence.verify.LeafDetail;
import blackbox.schemas.view.NetView;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// What a side's guest was answered over HTTP, as its gateway saw it. Of more than [#KEPT_MAX] answers, or of requests
/// with more than [#REQUEST_CHARS_MAX] characters, nothing is said.
final class HttpAnswers {
    private static final int KEPT_MAX = 65_536;
    private static final int REQUEST_CHARS_MAX = 8 << 20;
    private static final int REQUEST_SHOWN = 200;
    private static final int DIGEST_SHOWN = 12;

    /// In the order of their ends, by what was asked.
    private final Map<String, List<Answer>> byRequest = new HashMap<>();

    private int kept;
    private long requestChars;
    private boolean full;

    /// An answer.
    ///
    /// @param sinceNs when its first octet went to the guest
    /// @param asked digest of the request's body
    /// @param sha256 of the answer's
    private record Answer(
            long index,
            long sinceNs,
            String status,
            @Nullable String asked,
            @Nullable String sha256,
            long octets) {

        boolean isSame(Answer other) {
            return status.equals(other.status) && octets == other.octets && Objects.equals(sha256, other.sha256);
        }

        @Override
        public String toString() {
            String digest = sha256 == null ? "" : sha256.substring(0, Math.min(DIGEST_SHOWN, sha256.length()));
            return status + " with " + octets + " octets" + (digest.isEmpty() ? "" : " (" + digest + "…)");
        }
    }

    /// Two answers to the same request that differ.
    ///
    /// @param askedAlike whether the bodies of the requests are the same
    /// @param earlier how many others do that came before
    record Changed(
            String request,
            String expected,
            String actual,
            long index,
            long actualIndex,
            boolean askedAlike,
            long earlier) {}

    /// Takes the next.
    void see(NetView.Exchange exchange, long index) {
        String detail = String.valueOf(exchange.detail());
        Map<String, Long> numbers = LeafDetail.numbers(detail);
        Long status = numbers.get("status");
        if (status == null) {
            return;
        }
        String request = LeafDetail.text(detail, "method") + " " + LeafDetail.text(detail, "scheme") + "://"
                + LeafDetail.text(detail, "authority") + LeafDetail.text(detail, "target");
        requestChars += byRequest.containsKey(request) ? 0 : request.length();
        full |= kept++ >= KEPT_MAX || requestChars > REQUEST_CHARS_MAX;
        if (!full) {
            byRequest
                    .computeIfAbsent(request, _ -> new ArrayList<>(1))
                    .add(new Answer(
                            index,
                            exchange.atNs()
                                    - numbers.getOrDefault("durationNs", 0L)
                                    + numbers.getOrDefault("firstNs", 0L),
                            status.toString(),
                            LeafDetail.text(detail, "requestSha256"),
                            LeafDetail.text(detail, "responseSha256"),
                            exchange.bytesIn()));
        }
    }

    /// The last of this side's answers before a moment that the other side was given otherwise, before a moment of its
    /// own; requests to the same place are paired in the order in which they were answered.
    ///
    /// @return null if there is none
    @Nullable
    Changed lastChanged(HttpAnswers other, long untilNs, long otherUntilNs) {
        if (full || other.full) {
            return null;
        }
        String request = "";
        Answer last = null;
        Answer lastThere = null;
        long count = 0;
        for (Map.Entry<String, List<Answer>> each : byRequest.entrySet()) {
            List<Answer> others = other.byRequest.getOrDefault(each.getKey(), List.of());
            for (int i = 0; i < Math.min(each.getValue().size(), others.size()); i++) {
                Answer was = each.getValue().get(i);
                Answer is = others.get(i);
                if (was.isSame(is) || was.sinceNs > untilNs || is.sinceNs > otherUntilNs) {
                    continue;
                }
                count++;
                if (last == null || was.sinceNs > last.sinceNs) {
                    request = each.getKey();
                    last = was;
                    lastThere = is;
                }
            }
        }
        return last == null || lastThere == null
                ? null
                : new Changed(
                        request.substring(0, Math.min(REQUEST_SHOWN, request.length())),
                        last.toString(),
                        lastThere.toString(),
                        last.index,
                        lastThere.index,
                        Objects.equals(last.asked, lastThere.asked),
                        count - 1);
    }
}
