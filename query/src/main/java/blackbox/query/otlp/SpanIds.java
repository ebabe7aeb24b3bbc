package blackbox.query.otlp;

import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Kind;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;

/// The ids of a run's trace and spans: the same in every export, so that a second one adds nothing to the first.
///
/// The trace's 16 octets are the 128 bits that the run's id has in base 32. A span's 8 octets are the beginning of the
/// SHA-256 of `RUN/INDEX`, with its event's index, since some consumers know a span by this id alone, whatever its
/// trace.
record SpanIds(RunId run) {

    private static final String ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
    private static final int TRACE_DIGITS = 32;
    private static final int SPAN_DIGITS = 16;

    /// In lower-case hex, like those of spans.
    String trace() {
        BigInteger id = BigInteger.ZERO;
        for (char c : run.value().toCharArray()) {
            id = id.shiftLeft(5).or(BigInteger.valueOf(ALPHABET.indexOf(c)));
        }
        String digits = id.toString(16);
        return "0".repeat(TRACE_DIGITS - digits.length()) + digits;
    }

    /// What every span has: which event it stands for.
    Attributes event(long index, Kind kind) {
        return new Attributes()
                .put("blackbox.run", run.value())
                .put("blackbox.event.index", index)
                .put("blackbox.event.kind", kind.eventName());
    }

    /// The id of the span that stands for an event.
    String span(long index) {
        return Hash.sha256((run + "/" + index).getBytes(StandardCharsets.UTF_8))
                .toString()
                .substring(0, SPAN_DIGITS);
    }
}
