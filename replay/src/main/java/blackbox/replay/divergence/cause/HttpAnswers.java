package blackbox.replay.divergence.cause;

import blackbox.evidence.verify.LeafDetail;
import blackbox.schemas.view.NetView;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// What a side's guest was answered over HTTP, as its gateway saw it; the first [#KEPT_MAX].
final class HttpAnswers {
    private static final int KEPT_MAX = 65_536;
    private static final int DIGEST_SHOWN = 12;

    /// In the order of their ends, by what was asked.
    private final Map<String, List<Answer>> byRequest = new HashMap<>();
    private int kept;

    /// An answer.
    ///
    /// @param sinceNs when its first octet went to the guest
    private record Answer(
            long index,
            long sinceNs,
            String status,
            @Nullable String sha256,
            long octets) {
        boolean isSame(Answer other) {
            return status.equals(other.status) && octets == other.octets && Objects.equals(sha256, other.sha256);
        }

        @Override
        public String toString() {
            return status + " with " + octets + " octets"
                    + (sha256 == null
                            ? ""
                            : " (" + sha256.substring(0, Math.min(DIGEST_SHOWN, sha256.length())) + "…)");
        }
    }

    /// Two answers to the same request that differ.
    ///
    /// @param earlier how many others do that came before
    record Changed(String request, String expected, String actual, long index, long actualIndex, long earlier) {}

    /// Takes the next.
    void see(NetView.Exchange exchange, long index) {
        String detail = String.valueOf(exchange.detail());
        Map<String, Long> numbers = LeafDetail.numbers(detail);
        Long status = numbers.get("status");
        if (status == null || kept >= KEPT_MAX) {
            return;
        }
        kept++;
        long sinceNs = exchange.atNs() - numbers.getOrDefault("durationNs", 0L) + numbers.getOrDefault("firstNs", 0L);
        String request = LeafDetail.text(detail, "method") + " " + LeafDetail.text(detail, "scheme") + "://"
                + LeafDetail.text(detail, "authority") + LeafDetail.text(detail, "target");
        byRequest
                .computeIfAbsent(request, _ -> new ArrayList<>(1))
                .add(new Answer(
                        index,
                        sinceNs,
                        status.toString(),
                        LeafDetail.text(detail, "responseSha256"),
                        exchange.bytesIn()));
    }

    /// The last of this side's answers before a moment that the other side was given otherwise, before a moment of its
    /// own; requests that are the same are paired in their order.
    ///
    /// @return null if there is none
    @Nullable
    Changed lastChanged(HttpAnswers other, long untilNs, long otherUntilNs) {
        Changed last = null;
        long lastNs = Long.MIN_VALUE;
        long count = 0;
        for (Map.Entry<String, List<Answer>> each : byRequest.entrySet()) {
            List<Answer> others = other.byRequest.getOrDefault(each.getKey(), List.of());
            for (int i = 0; i < Math.min(each.getValue().size(), others.size()); i++) {
                Answer was = each.getValue().get(i);
                Answer is = others.get(i);
                if (!was.isSame(is) && was.sinceNs <= untilNs && is.sinceNs <= otherUntilNs) {
                    if (was.sinceNs > lastNs) {
                        lastNs = was.sinceNs;
                        last = new Changed(each.getKey(), was.toString(), is.toString(), was.index, is.index, count);
                    }
                    count++;
                }
            }
        }
        return last == null
                ? null
                : new Changed(last.request, last.expected, last.actual, last.index, last.actualIndex, count - 1);
    }
}
