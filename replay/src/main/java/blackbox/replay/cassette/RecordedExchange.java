package blackbox.replay.cassette;

import blackbox.schemas.Hash;
import blackbox.schemas.event.Endpoint;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A datagram of the recorded guest and what came back: for a DNS question, the answers with its id; for any other
/// datagram, all that came before the guest sent the next one from the same port to the same endpoint. Filled by
/// the [CassetteReader], then only read.
final class RecordedExchange {
    /// Where resolvers are asked.
    static final int DNS_PORT = 53;

    private final Endpoint remote;
    private final Question question;
    private final List<Place> answers = new ArrayList<>();

    /// ICMP or ICMPv6 type and code of the unreachable message; 0 if there was none.
    int unreachable;

    /// The same DNS question, asked again from the same port with the same id; null if it was not.
    @Nullable
    RecordedExchange repeated;

    private boolean repeat;

    /// Octets in the capture of what the guest received.
    record Place(long offset, int count) {}

    /// What was asked. A DNS message's id is left out of the digest: each execution draws its own.
    ///
    /// @param dns whether it has the form of a DNS question
    /// @param name whose addresses are asked for; null if something else is, or more than that
    record Question(
            Hash digest, int bytes, boolean dns, @Nullable Name name) {}

    /// A name in lower case, and the type of its records.
    record Name(String text, int type) {}

    RecordedExchange(Endpoint remote, Question question) {
        this.remote = remote;
        this.question = question;
    }

    /// Links the question that repeats this one.
    void repeatedBy(RecordedExchange later) {
        repeated = later;
        later.repeat = true;
    }

    /// Whether it repeats an earlier question.
    boolean isRepeat() {
        return repeat;
    }

    Endpoint remote() {
        return remote;
    }

    Question question() {
        return question;
    }

    List<Place> answers() {
        return answers;
    }

    /// Adds what came back. From a resolver, the first answer to a question will do: a further one answers an earlier
    /// copy of the question, came late, and in a replay, where nothing is late, would be read.
    void answered(Place place) {
        if (!question.dns() || remote.port() != DNS_PORT || answers.isEmpty()) {
            answers.add(place);
        }
    }
}
