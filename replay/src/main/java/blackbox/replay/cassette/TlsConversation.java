package blackbox.replay.cassette;

import blackbox.gateway.tls.ClientHello;
import blackbox.gateway.tls.RunAuthority;
import blackbox.gateway.tls.TlsServer;
import blackbox.replay.cassette.RecordedConnection.End;
import blackbox.replay.cassette.TlsEndpoint.Greeting;
import blackbox.schemas.event.Endpoint;
import java.io.ByteArrayOutputStream;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Locale;
import java.util.function.Supplier;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/// TLS with the guest around a conversation that was recorded without it. Keys and octets on the wire are the replay's
/// own; what is said in TLS is the recording's. Owned by one thread.
final class TlsConversation implements Conversation {
    /// How much is kept that the guest has not acknowledged.
    private static final int KEPT_BYTES_MAX = 256 << 10;

    private static final int PIECE_BYTES_MAX = 16 << 10;
    private static final byte[] NOTHING = new byte[0];
    private static final String HTTP_2 =
            "HTTP/2 was recorded, whose octets differ in every execution, and a replay of the"
                    + " live tier does not serve it: record the run again with --tier exact, or with a program that offers"
                    + " HTTP/1.1, too, which the gateway then speaks with it";

    private final Endpoint remote;
    private final TlsEndpoint endpoint;
    private final RunAuthority authority;
    private final Supplier<Conversation> inside;
    private final ByteArrayOutputStream hello = new ByteArrayOutputStream();
    private final ArrayDeque<Told> told = new ArrayDeque<>();
    private @Nullable TlsServer tls;
    private @Nullable Conversation conversation;
    private @Nullable Miss missed;
    private byte[] kept = NOTHING;
    /// The place of the first octet that is kept.
    private long keptFrom;

    private long received;
    private boolean failed;
    private boolean finished;
    private boolean saidFinished;
    private long toldOctets;
    private End end = End.NONE;

    /// How many octets on the wire carry how many of the conversation.
    private record Told(long onWire, long octets) {}

    /// @param inside begins the conversation, once TLS is
    TlsConversation(Endpoint remote, TlsEndpoint endpoint, RunAuthority authority, Supplier<Conversation> inside) {
        this.remote = remote;
        this.endpoint = endpoint;
        this.authority = authority;
        this.inside = inside;
    }

    Endpoint remote() {
        return remote;
    }

    @Override
    public @Nullable Miss take(byte[] octets) {
        received += octets.length;
        TlsServer server = tls;
        if (server == null && end != End.NONE || failed) {
            return null;
        }
        byte[] next = octets;
        if (server == null) {
            hello.writeBytes(octets);
            next = hello.toByteArray();
            ClientHello said = ClientHello.read(next);
            switch (said.kind()) {
                case MORE -> {
                    return null;
                }
                case OTHER, MALFORMED -> {
                    return miss("it begins with no TLS, and the recorded connections do");
                }
                case WHOLE -> {}
            }
            Greeting greeting = endpoint.greeting(said);
            if (greeting == null) {
                return miss("no TLS with the server name " + said.serverName() + " was recorded");
            }
            if (greeting.opens() && endpoint.http2() && said.needsHttp2()) {
                return miss(HTTP_2);
            }
            if (!greeting.opens()) {
                keep(greeting.refusal());
                end = greeting.refusal().length == 0 ? End.RST : End.FIN;
                return null;
            }
            server = TlsServer.of(authority, name(said));
            tls = server;
        }
        return answer(server, next);
    }

    private String name(ClientHello said) {
        String asked = said.serverName();
        return asked == null ? remote.ip() : asked.toLowerCase(Locale.ROOT);
    }

    private Miss miss(String why) {
        return new RequestOctets(remote).miss(null, 0, hello.toByteArray(), why);
    }

    private @Nullable Miss answer(TlsServer server, byte[] octets) {
        try {
            keep(server.take(octets, this::said));
        } catch (SSLException e) {
            keep(server.alert());
            failed = true;
            end = end == End.NONE ? End.FIN : end; // the guest gave up, which shows in what it does then
        }
        if (kept.length > 2 * KEPT_BYTES_MAX) { // it makes TLS answer, and takes nothing
            failed = true;
            end = End.RST;
        }
        if (server.isOpened() && conversation == null) {
            conversation = inside.get();
        }
        if (server.isFinished()) {
            sayFinished();
        }
        Miss found = missed;
        missed = null;
        return found;
    }

    private void said(byte[] octets) {
        Conversation known = conversation == null ? inside.get() : conversation;
        conversation = known;
        if (missed == null) {
            missed = known.take(octets);
        }
    }

    private void sayFinished() {
        Conversation known = conversation;
        if (!saidFinished && missed == null && known != null) {
            saidFinished = true;
            missed = known.finish();
        }
    }

    private void keep(byte[] octets) {
        if (octets.length > 0) {
            int before = kept.length;
            kept = Arrays.copyOf(kept, before + octets.length);
            System.arraycopy(octets, 0, kept, before, octets.length);
        }
    }

    @Override
    public @Nullable Miss resume() {
        Conversation known = conversation;
        return known == null ? null : known.resume();
    }

    @Override
    public void acknowledge(long octets) {
        int gone = Math.clamp(octets - keptFrom, 0, kept.length);
        kept = Arrays.copyOfRange(kept, gone, kept.length);
        keptFrom += gone;
        Told last = null;
        while (!told.isEmpty() && told.getFirst().onWire() <= octets) {
            last = told.removeFirst();
        }
        Conversation known = conversation;
        if (last != null && known != null) {
            known.acknowledge(last.octets());
        }
    }

    @Override
    public @Nullable Miss finish() {
        finished = true;
        sayFinished();
        Miss found = missed;
        missed = null;
        return found;
    }

    @Override
    public long received() {
        return received + (finished ? 1 : 0);
    }

    @Override
    public long released() {
        TlsServer server = tls;
        Conversation known = conversation;
        if (server != null && known != null && server.isOpened() && end == End.NONE) {
            tell(server, known);
        }
        return keptFrom + kept.length;
    }

    private void tell(TlsServer server, Conversation known) {
        try {
            while (kept.length < KEPT_BYTES_MAX && toldOctets < known.released()) {
                byte[] octets = known.read(toldOctets, PIECE_BYTES_MAX);
                keep(server.seal(octets));
                toldOctets += octets.length;
                told.add(new Told(keptFrom + kept.length, toldOctets));
            }
        } catch (SSLException e) {
            end = End.RST; // the guest closed it both ways
            return;
        }
        End how = known.end();
        if (how != End.NONE && toldOctets == known.released()) {
            end = how;
            if (how == End.FIN) {
                keep(server.close());
            }
        }
    }

    @Override
    public byte[] read(long at, int max) {
        int from = (int) (at - keptFrom);
        if (from < 0 || from >= kept.length) {
            throw new IndexOutOfBoundsException("octet " + at + " is not kept");
        }
        return Arrays.copyOfRange(kept, from, Math.min(kept.length, from + max));
    }

    @Override
    public End end() {
        return end;
    }

    @Override
    public boolean isWhole() {
        Conversation known = conversation;
        return known == null ? received == 0 || tls != null || end != End.NONE : known.isWhole();
    }

    @Override
    public @Nullable Miss close() {
        Conversation known = conversation;
        return known == null ? null : known.close();
    }
}
