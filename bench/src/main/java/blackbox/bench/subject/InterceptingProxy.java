package blackbox.bench.subject;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// What others use to look into TLS, on a loopback port, with an authority made for it. Clients that know nothing of
/// proxies reach it through Debian's `proxychains4`, which says CONNECT on each new connection and nothing after that.
/// Both verify the origin's certificate, and keep nothing: squid logs one line a request.
public final class InterceptingProxy implements AutoCloseable {
    private static final Duration START_MAX = Duration.ofSeconds(30);
    private static final String CERTIFICATES = "/usr/lib/squid/security_file_certgen";

    private final String name;
    private final Process process;
    private final Path chain;

    private InterceptingProxy(String name, Process process, Path chain) {
        this.name = name;
        this.process = process;
        this.chain = chain;
    }

    /// What to install to start both; null if nothing.
    public static @Nullable String missing() {
        var missing = new ArrayList<String>();
        for (String[] each : new String[][] {
            {"/usr/bin/mitmdump", "mitmproxy"},
            {CERTIFICATES, "squid-openssl"},
            {"/usr/bin/proxychains4", "proxychains4"}
        }) {
            if (!Files.isExecutable(Path.of(each[0]))) {
                missing.add(each[1]);
            }
        }
        return missing.isEmpty() ? null : "apt-get install " + String.join(" ", missing);
    }

    /// Starts mitmproxy's `mitmdump`, with its defaults but one: a long body is sent on while it comes.
    public static InterceptingProxy mitmproxy(Path folder, Origin origin) throws IOException, InterruptedException {
        int port = freePort();
        return start(
                "mitmproxy",
                folder,
                port,
                List.of(
                        "mitmdump",
                        "--quiet",
                        "--listen-host",
                        "127.0.0.1",
                        "--listen-port",
                        "" + port,
                        "--set",
                        "confdir=" + folder,
                        "--set",
                        "stream_large_bodies=1m",
                        "--set",
                        "ssl_verify_upstream_trusted_ca=" + origin.certificate()));
    }

    /// Starts squid, one worker, which decides by the name in the client's hello and then opens TLS.
    public static InterceptingProxy squid(Path folder, Origin origin) throws IOException, InterruptedException {
        int port = freePort();
        SelfSigned.write(folder.resolve("ca.pem"), folder.resolve("ca.key"), List.of("DNS:squid"));
        Path file = Files.writeString(folder.resolve("squid.conf"), settings(port, folder, origin));
        Launcher.time(
                List.of(CERTIFICATES, "-c", "-s", folder.resolve("certificates").toString(), "-M", "4MB"));
        letOthersWrite(folder);
        return start("squid", folder, port, List.of("squid", "--foreground", "-N", "-f", file.toString()));
    }

    private static String settings(int port, Path folder, Origin origin) {
        return """
                http_port 127.0.0.1:%1$d ssl-bump generate-host-certificates=on dynamic_cert_mem_cache_size=4MB \
                tls-cert=%2$s/ca.pem tls-key=%2$s/ca.key
                sslcrtd_program %3$s -s %2$s/certificates -M 4MB
                acl step1 at_step SslBump1
                ssl_bump peek step1
                ssl_bump bump all
                tls_outgoing_options cafile=%4$s
                http_access allow all
                cache deny all
                access_log stdio:%2$s/access.log
                cache_log %2$s/cache.log
                pid_filename none
                coredump_dir %2$s
                max_filedescriptors 8192
                """.formatted(port, folder, CERTIFICATES, origin.certificate());
    }

    private static String chain(int port) {
        return """
                strict_chain
                quiet_mode
                [ProxyList]
                http 127.0.0.1 %d
                """.formatted(port);
    }

    /// Started by root, squid becomes another user. All that is in the folder is made for this and deleted with it.
    private static void letOthersWrite(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.toList()) {
                Files.setPosixFilePermissions(
                        file, PosixFilePermissions.fromString(Files.isDirectory(file) ? "rwxrwxrwx" : "rw-rw-rw-"));
            }
        }
    }

    private static InterceptingProxy start(String name, Path folder, int port, List<String> command)
            throws IOException, InterruptedException {
        Path output = folder.resolve("output");
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        var proxy = new InterceptingProxy(
                name, process, Files.writeString(folder.resolve("proxychains.conf"), chain(port)));
        long end = System.nanoTime() + START_MAX.toNanos();
        while (!listens(port)) {
            if (!process.isAlive() || System.nanoTime() > end) {
                proxy.close();
                throw new IOException(name + " does not start: " + Files.readString(output));
            }
            process.waitFor(Duration.ofMillis(50));
        }
        return proxy;
    }

    private static int freePort() throws IOException {
        try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return server.getLocalPort();
        }
    }

    private static boolean listens(int port) {
        try (var socket = new Socket()) {
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1_000);
            return true;
        } catch (IOException _) {
            return false;
        }
    }

    public String name() {
        return name;
    }

    /// A command line that runs a program whose connections go through it.
    public List<String> through(List<String> program) {
        var words = new ArrayList<>(List.of("proxychains4", "-q", "-f", chain.toString()));
        words.addAll(program);
        return words;
    }

    public ProcessCost cost() throws IOException {
        return ProcessCost.of(process);
    }

    @Override
    public void close() throws IOException {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }
}
