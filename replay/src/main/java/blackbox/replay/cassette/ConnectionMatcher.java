package blackbox.replay.cassette;

import blackbox.schemas.event.Endpoint;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// The recorded connections to each endpoint that are not used up yet, and how many claims wait for one. Owned by
/// one thread.
final class ConnectionMatcher {
    private final Function<Endpoint, List<RecordedConnection>> recorded;
    private final Map<Endpoint, Shelf> shelves = new HashMap<>();
    private int used;

    /// The connections to one endpoint.
    ///
    /// @param unused in the order of the recording
    private record Shelf(SequencedSet<RecordedConnection> unused, int[] waiting) {}

    /// @param recorded those to an endpoint, in the order of the recording
    ConnectionMatcher(Function<Endpoint, List<RecordedConnection>> recorded) {
        this.recorded = recorded;
    }

    /// How many recorded connections were used.
    int used() {
        return used;
    }

    /// The connection whose fate the next SYN to `remote` shares, or null when there are none left. Claims
    /// that are still waiting count as ahead of it.
    @Nullable
    RecordedConnection peek(Endpoint remote) {
        Shelf shelf = shelf(remote);
        return shelf.unused().stream().skip(shelf.waiting()[0]).findFirst().orElse(null);
    }

    /// Uses up a connection.
    void use(RecordedConnection connection) {
        if (shelf(connection.remote()).unused().remove(connection)) {
            used++;
        }
    }

    /// Whether all to an endpoint were used.
    boolean isUsedUp(Endpoint remote) {
        return shelf(remote).unused().isEmpty();
    }

    boolean isUnused(RecordedConnection connection) {
        return shelf(connection.remote()).unused().contains(connection);
    }

    /// Counts a claim that starts waiting.
    void await(Endpoint remote) {
        shelf(remote).waiting()[0]++;
    }

    /// Stops counting it.
    void awaitNoMore(Endpoint remote) {
        shelf(remote).waiting()[0]--;
    }

    /// The first unused connection to `remote` whose request begins with the first `received` octets of
    /// `known`'s and continues with `more`; null if there is none.
    @Nullable
    RecordedConnection find(Endpoint remote, @Nullable RecordedConnection known, long received, byte[] more) {
        for (RecordedConnection each : shelf(remote).unused()) {
            boolean same = each.opening == RecordedConnection.Opening.ACCEPTED
                    && (known == null
                            || each == known
                            || each.request()
                                    .whole()
                                    .sharesStart(known.request().whole(), received))
                    && each.request().whole().mismatch(received, more) == more.length;
            if (same) {
                return each;
            }
        }
        return null;
    }

    private Shelf shelf(Endpoint remote) {
        return shelves.computeIfAbsent(remote, _ -> new Shelf(new LinkedHashSet<>(recorded.apply(remote)), new int[1]));
    }
}
