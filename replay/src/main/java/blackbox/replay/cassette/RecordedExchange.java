package blackbox.replay.cassette;

import blackbox.schemas.Hash;
import blackbox.schemas.event.Endpoint;
import java.util.ArrayList;
import java.util.List;

/// A datagram of the recorded guest and what came back before it sent the next one from there. Filled by the
/// [CassetteReader], then only read.
final class RecordedExchange {
    private final Endpoint remote;
    private final Question question;
    private final List<Place> answers = new ArrayList<>();
    /// ICMP or ICMPv6 type and code of the unreachable message; 0 if there was none.
    int unreachable;

    /// Octets in the capture of what the guest received.
    record Place(long offset, int count) {}

    /// What was asked. A DNS message's id is left out of the digest: each execution draws its own.
    ///
    /// @param dns whether it has the form of a DNS question
    record Question(Hash digest, int bytes, boolean dns) {}

    RecordedExchange(Endpoint remote, Question question) {
        this.remote = remote;
        this.question = question;
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
}
