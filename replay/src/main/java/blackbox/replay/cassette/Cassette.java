package blackbox.replay.cassette;

import blackbox.schemas.event.Endpoint;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// What the network answered in a recorded run, in the order in which the guest asked: its connections, its
/// datagrams, which hosts existed. Octets stay in the captures, which must be readable as long as this is
/// used. Immutable.
public final class Cassette {
    private final CapturedFrames answers;
    private final Map<Endpoint, List<RecordedConnection>> connections = new LinkedHashMap<>();
    private final Map<Endpoint, List<RecordedExchange>> exchanges = new LinkedHashMap<>();
    private final Map<Endpoint, TlsEndpoint> opened;
    private final Set<String> neighbours;
    private final Map<String, Boolean> echoes;
    private final List<String> limits;

    /// @param answers what the guest received
    /// @param opened the endpoints to which TLS was opened
    /// @param neighbours addresses that announced themselves (ARP, neighbour discovery)
    /// @param echoes addresses that were pinged, and whether they answered
    /// @param limits which parts of the captures cannot be served, in words
    Cassette(
            CapturedFrames answers,
            List<RecordedConnection> connections,
            List<RecordedExchange> exchanges,
            Map<Endpoint, TlsEndpoint> opened,
            Set<String> neighbours,
            Map<String, Boolean> echoes,
            List<String> limits) {
        this.answers = answers;
        for (RecordedConnection each : connections) {
            this.connections
                    .computeIfAbsent(each.remote(), _ -> new ArrayList<>())
                    .add(each);
        }
        for (RecordedExchange each : exchanges) {
            this.exchanges
                    .computeIfAbsent(each.remote(), _ -> new ArrayList<>())
                    .add(each);
        }
        this.opened = Map.copyOf(opened);
        this.neighbours = Set.copyOf(neighbours);
        this.echoes = Map.copyOf(echoes);
        this.limits = List.copyOf(limits);
    }

    /// Reads the two captures of a run, whose digests the caller has checked.
    ///
    /// @param out what the guest sent
    /// @param in what it received
    /// @throws IOException when one cannot be read or is not a capture of frames
    public static Cassette read(CapturedFrames out, CapturedFrames in) throws IOException {
        return read(out, in, null);
    }

    /// The same, of a run whose gateway opened TLS.
    ///
    /// @param plaintext what it found there; null if nothing was kept
    public static Cassette read(CapturedFrames out, CapturedFrames in, @Nullable CapturedFrames plaintext)
            throws IOException {
        return new CassetteReader(out, in, plaintext).read();
    }

    /// On how many recorded connections TLS was opened, so that a replay has to open it, too.
    public int openedCount() {
        return opened.values().stream().mapToInt(each -> each.opened().size()).sum();
    }

    /// The endpoint if TLS to it was opened, or null.
    @Nullable
    TlsEndpoint tls(Endpoint remote) {
        return opened.get(remote);
    }

    /// What was said on the connections to an endpoint: in TLS, where it was opened.
    List<RecordedConnection> conversations(Endpoint remote) {
        TlsEndpoint tls = opened.get(remote);
        return tls == null ? connections(remote) : tls.opened();
    }

    /// All that was said, in TLS where it was opened.
    List<RecordedConnection> conversations() {
        return connections.keySet().stream()
                .flatMap(remote -> conversations(remote).stream())
                .toList();
    }

    /// Which parts of the captures cannot be served, in words; empty if all can.
    public List<String> limits() {
        return limits;
    }

    /// How many connections were opened or tried.
    public int connectionCount() {
        return connections.values().stream().mapToInt(List::size).sum();
    }

    /// How many datagrams the guest sent.
    public int exchangeCount() {
        return exchanges.values().stream().mapToInt(List::size).sum();
    }

    List<RecordedConnection> connections(Endpoint remote) {
        return connections.getOrDefault(remote, List.of());
    }

    List<RecordedExchange> exchanges(Endpoint remote) {
        return exchanges.getOrDefault(remote, List.of());
    }

    /// The endpoints at these addresses to which there were connections.
    List<Endpoint> endpointsAt(Set<String> addresses) {
        return connections.keySet().stream()
                .filter(each -> addresses.contains(each.ip()))
                .toList();
    }

    /// Whether a connection to an endpoint was opened.
    boolean isAccepted(Endpoint remote) {
        return connections(remote).stream().anyMatch(each -> each.opening == RecordedConnection.Opening.ACCEPTED);
    }

    /// The endpoints to which datagrams were sent.
    Set<Endpoint> toldEndpoints() {
        return exchanges.keySet();
    }

    boolean isNeighbour(String address) {
        return neighbours.contains(address);
    }

    /// Whether `address` answered when it was pinged; null when it was not pinged.
    @Nullable
    Boolean echo(String address) {
        return echoes.get(address);
    }

    byte[] answer(RecordedExchange.Place place) throws IOException {
        return answers.read(place.offset(), place.count());
    }
}
