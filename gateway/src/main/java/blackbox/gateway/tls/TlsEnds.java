package blackbox.gateway.tls;

import blackbox.schemas.net.IpAddress;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import java.nio.charset.StandardCharsets;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/// Both ends of opened TLS: a server to the guest, a client to the other side. What takes long in a handshake runs on
/// virtual threads, and is at most one task for each end of a connection.
public final class TlsEnds {
    private static final Executor TASKS = Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("gateway-tls-", 0).factory());

    private final RunAuthority authority;
    private final X509TrustManager trust;
    private final Duration handshakeMax;

    /// @param trust verifies the other side's certificates
    public TlsEnds(RunAuthority authority, X509TrustManager trust, Duration handshakeMax) {
        this.authority = authority;
        this.handshakeMax = handshakeMax;
        this.trust = trust;
    }

    /// A handler for the guest's channel, as the server of that name.
    ///
    /// @param protocol that is spoken in it, as ALPN names it
    /// @param loop on which the stage completes
    public CompletionStage<SslHandler> toGuest(
            ByteBufAllocator allocator, String name, String protocol, Executor loop) {
        var made = new CompletableFuture<SslHandler>();
        var unused = CompletableFuture.supplyAsync(() -> authority.server(name, protocol), TASKS)
                .whenCompleteAsync(
                        (context, failure) -> {
                            if (failure == null) {
                                made.complete(timed(context.newHandler(allocator, TASKS)));
                            } else {
                                made.completeExceptionally(failure);
                            }
                        },
                        loop);
        return made;
    }

    /// A handler for the other side's channel. Its handshake fails unless the certificate is that of the host.
    ///
    /// @param host a name, or an address
    /// @param protocol that is offered to it, as ALPN names it
    public SslHandler toUpstream(ByteBufAllocator allocator, String host, int port, String protocol) {
        SslHandler handler = client(protocol).newHandler(allocator, host, port, TASKS);
        SSLEngine engine = handler.engine();
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        if (IpAddress.canonical(host) == null) {
            parameters.setServerNames(List.of(new SNIHostName(host.getBytes(StandardCharsets.US_ASCII))));
        }
        engine.setSSLParameters(parameters);
        return timed(handler);
    }

    /// One for each connection, so that none resumes the session of another, by which its server would know it again.
    private SslContext client(String protocol) {
        try {
            return SslContextBuilder.forClient()
                    .sslProvider(SslProvider.JDK)
                    .trustManager(trust)
                    .protocols("TLSv1.3", "TLSv1.2")
                    .applicationProtocolConfig(RunAuthority.alpn(protocol))
                    .build();
        } catch (SSLException e) {
            throw new IllegalStateException("this JVM has no TLS", e);
        }
    }

    private SslHandler timed(SslHandler handler) {
        handler.setHandshakeTimeout(handshakeMax.toMillis(), TimeUnit.MILLISECONDS);
        return handler;
    }

    /// Why a certificate did not verify; null if a handshake failed for another reason.
    public static @Nullable String certificateFault(Throwable failure) {
        String found = null;
        for (Throwable at = failure; at != null; at = at.getCause()) {
            if (at instanceof CertificateException || at instanceof CertPathValidatorException) {
                found = String.valueOf(at.getMessage());
            }
        }
        return found;
    }
}
