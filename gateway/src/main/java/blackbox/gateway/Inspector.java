package blackbox.gateway;

import blackbox.gateway.dial.DialException;
import blackbox.gateway.dial.Dialer;
import blackbox.gateway.egress.Decision;
import blackbox.gateway.egress.Decision.Stage;
import blackbox.gateway.egress.Finding;
import blackbox.gateway.egress.Findings;
import blackbox.gateway.egress.GatewayListener;
import blackbox.gateway.egress.Inspection;
import blackbox.gateway.egress.Judge;
import blackbox.gateway.egress.Metered;
import blackbox.gateway.egress.Verdict;
import blackbox.gateway.secret.Secrets;
import blackbox.gateway.tls.ClientHello;
import blackbox.gateway.tls.RunAuthority;
import blackbox.gateway.tls.TlsEnds;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.ssl.SslHandler;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/// Looks into connections as far as their verdicts say, once the other side is connected. Owned by the loop.
@SuppressWarnings("FutureReturnValueIgnored") // what fails to be written or closed is told to the handlers
final class Inspector implements ConnectionHandler {
    /// Each may hold 768 KiB of bodies, and 512 KiB of heads.
    private static final int HTTP2_CONNECTIONS_MAX = 128;

    private final Judge judge;
    private final GatewayListener listener;
    private final Findings findings;
    private final TlsEnds tls;
    private final Secrets secrets;
    private final InspectionSettings settings;
    private int http2Connections;

    private Inspector(
            Judge judge,
            GatewayListener listener,
            Findings findings,
            TlsEnds tls,
            Secrets secrets,
            InspectionSettings settings) {
        this.judge = judge;
        this.listener = listener;
        this.findings = findings;
        this.tls = tls;
        this.secrets = secrets;
        this.settings = settings;
    }

    static ConnectionHandler.Factory factory(
            RunAuthority authority, X509TrustManager trust, Secrets secrets, InspectionSettings settings) {
        var tls = new TlsEnds(authority, trust, settings.handshakeMax());
        return (judge, listener, findings) -> new Inspector(judge, listener, findings, tls, secrets, settings);
    }

    Judge judge() {
        return judge;
    }

    GatewayListener listener() {
        return listener;
    }

    Findings findings() {
        return findings;
    }

    TlsEnds tls() {
        return tls;
    }

    Secrets secrets() {
        return secrets;
    }

    InspectionSettings settings() {
        return settings;
    }

    @Override
    public void open(AllowedConnection connection) {
        connection.dial(connection.verdict().upstream()).whenComplete((upstream, failure) -> {
            if (failure != null) {
                connection.refuse(Dialer.reason(failure));
            } else if (!connection.isWaiting()) {
                upstream.close();
            } else if (connection.verdict().inspection() == Inspection.SEALED) {
                sealed(connection, (DuplexChannel) upstream);
            } else {
                new Opening(this, connection, (DuplexChannel) upstream).join();
            }
        });
    }

    private void sealed(AllowedConnection connection, DuplexChannel upstream) {
        Metered metered = stream(connection);
        if (!metered.begins()) {
            upstream.close();
            connection.refuse(new DialException(DialException.Cause.REFUSED, "a budget is spent"));
            return;
        }
        var relay = new Relay(upstream, metered);
        relay.start(connection.accept(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel guest) {
                guest.pipeline()
                        .addLast(new HelloGate(Inspector.this, connection))
                        .addLast(relay.guestSide());
            }
        }));
    }

    /// What is asked of a connection on which something else than HTTP is spoken; tells what it says.
    Metered stream(AllowedConnection connection) {
        return new Metered(
                judge.stream(connection.verdict().rule()),
                ruling -> listener.decided(new Decision(
                        Stage.FLOW,
                        ruling.verdict().outcome(),
                        ruling.verdict().rule(),
                        ruling.verdict().reason(),
                        connection.flow(),
                        connection.destination().host(),
                        Integer.toString(connection.destination().port()))));
    }

    /// Asks whether TLS may go on to a server name, and tells of it.
    CompletionStage<Verdict> judgeTls(AllowedConnection connection, @Nullable String serverName) {
        return judge.tls(connection.destination(), serverName).thenApply(verdict -> {
            tellTls(connection, verdict, serverName);
            return verdict;
        });
    }

    private void tellTls(AllowedConnection connection, Verdict verdict, @Nullable String serverName) {
        listener.decided(new Decision(
                Stage.TLS,
                verdict.outcome(),
                verdict.rule(),
                verdict.reason(),
                connection.flow(),
                connection.destination().host(),
                serverName == null ? "" : serverName));
    }

    /// Whom the other side must prove to be.
    static String peer(AllowedConnection connection) {
        String host = connection.destination().host();
        return host == null ? connection.destination().address() : host;
    }

    /// Opens TLS to the other side. If that fails, the channel is closed, and it was told why.
    ///
    /// @param http2 whether it must speak HTTP/2; otherwise HTTP/1.1 is offered to it
    /// @return on the loop; fails with an exception whose message is for people
    CompletionStage<DuplexChannel> secure(AllowedConnection connection, DuplexChannel upstream, boolean http2) {
        var secured = new CompletableFuture<DuplexChannel>();
        String name = peer(connection);
        SslHandler handler =
                tls.toUpstream(upstream.alloc(), name, connection.destination().port(), protocol(http2));
        TlsGuard.add(upstream, handler);
        upstream.config().setAutoRead(true);
        handler.handshakeFuture().addListener(done -> {
            boolean spoken = !http2 || ClientHello.HTTP_2.equals(handler.applicationProtocol());
            if (done.isSuccess() && spoken) {
                upstream.config().setAutoRead(false);
                secured.complete(upstream);
                return;
            }
            upstream.close();
            String fault = done.isSuccess() ? null : TlsEnds.certificateFault(done.cause());
            if (http2 && (done.isSuccess() || isProtocolRefused(done.cause()))) {
                String reason = name + " does not speak HTTP/2, and the client offers nothing else";
                findings.found(Finding.UPSTREAM_TLS, reason);
                secured.completeExceptionally(new ProtocolRefused(reason));
            } else if (fault != null) {
                String reason = "the certificate of " + name + " does not verify: " + fault;
                findings.found(Finding.UPSTREAM_CERTIFICATE, reason);
                tellTls(connection, Verdict.deny(null, reason), name);
                secured.completeExceptionally(new CertificateRefused(reason));
            } else {
                String reason = name + " does not complete a TLS handshake: "
                        + done.cause().getMessage();
                findings.found(Finding.UPSTREAM_TLS, reason);
                secured.completeExceptionally(new IOException(reason));
            }
        });
        return secured;
    }

    /// Whether there is a place for another connection in HTTP/2, which it has until it is closed.
    boolean takesHttp2(Channel guest) {
        if (http2Connections == HTTP2_CONNECTIONS_MAX) {
            findings.found(Finding.CONNECTIONS_REFUSED, "more than " + HTTP2_CONNECTIONS_MAX + " at once in HTTP/2");
            return false;
        }
        http2Connections++;
        guest.closeFuture().addListener(_ -> http2Connections--);
        return true;
    }

    /// As ALPN names it.
    static String protocol(boolean http2) {
        return http2 ? ClientHello.HTTP_2 : ClientHello.HTTP_1_1;
    }

    private static boolean isProtocolRefused(Throwable cause) {
        return String.valueOf(cause.getMessage()).contains("no_application_protocol");
    }

    /// The other side does not speak what the guest insists on.
    static final class ProtocolRefused extends IOException {
        private static final long serialVersionUID = 1L;

        ProtocolRefused(String message) {
            super(message);
        }
    }

    /// The certificate of the other side did not verify.
    static final class CertificateRefused extends IOException {
        private static final long serialVersionUID = 1L;

        CertificateRefused(String message) {
            super(message);
        }
    }
}
