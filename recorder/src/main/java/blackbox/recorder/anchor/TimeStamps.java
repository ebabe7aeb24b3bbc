package blackbox.recorder.anchor;

import blackbox.evidence.time.MalformedTimeStampException;
import blackbox.evidence.time.TimeAnswer;
import blackbox.evidence.time.TimeAuthorities;
import blackbox.evidence.time.TimeQuery;
import blackbox.evidence.time.TimeToken;
import blackbox.evidence.time.TimeVerdict;
import blackbox.recorder.outbound.HttpPoster;
import blackbox.schemas.Hash;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.random.RandomGenerator;

/// Asks a time-stamping authority over HTTP (RFC 3161, section 3.4).
public final class TimeStamps {

    private final HttpPoster client;
    private final TimeAuthorities trusted;
    private final RandomGenerator random;

    /// @param trusted whose stamps are accepted
    /// @param random source of nonces, which must not be guessable
    public TimeStamps(HttpPoster client, TimeAuthorities trusted, RandomGenerator random) {
        this.client = client;
        this.trusted = trusted;
        this.random = random;
    }

    /// The result of asking.
    public sealed interface Outcome {

        /// A stamp that was checked, and its content.
        record Stamped(TimeToken token, TimeVerdict.Stamped verdict) implements Outcome {}

        /// No stamp; `why` is one sentence.
        record Failed(String why) implements Outcome {}
    }

    /// Has the authority at `address` stamp `imprint`.
    public Outcome ask(URI address, Hash imprint) throws InterruptedException {
        TimeQuery query = TimeQuery.create(imprint, random);
        try {
            HttpResponse<byte[]> answer = client.post(
                    address,
                    Map.of("Content-Type", TimeQuery.MEDIA_TYPE),
                    query.encoded(),
                    HttpPoster.atMost(TimeToken.OCTETS_MAX));
            String type = HttpPoster.mediaType(answer);
            if (answer.statusCode() != 200 || !type.equals(TimeAnswer.MEDIA_TYPE)) {
                return new Outcome.Failed(address + " answers with status " + answer.statusCode() + " and '" + type
                        + "', which is not a time stamp");
            }
            return switch (TimeAnswer.parse(answer.body())) {
                case TimeAnswer.Rejected(int status, String why) ->
                    new Outcome.Failed(address + " refused to give a time stamp: " + why + " (status " + status + ")");
                case TimeAnswer.Granted(TimeToken token) -> checked(address, token, query);
            };
        } catch (IOException | MalformedTimeStampException e) {
            return new Outcome.Failed(address + ": " + e.getMessage());
        }
    }

    private Outcome checked(URI address, TimeToken token, TimeQuery query) {
        return switch (trusted.verify(token, query)) {
            case TimeVerdict.Stamped stamped -> new Outcome.Stamped(token, stamped);
            case TimeVerdict.Refused(String why) -> new Outcome.Failed(address + ": " + why);
        };
    }
}
