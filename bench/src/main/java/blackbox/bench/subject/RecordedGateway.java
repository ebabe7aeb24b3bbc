package blackbox.bench.subject;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/// The egress gateway, with the record of all that it does, in a process with the options that `./blackbox record`
/// has; and a guest behind it.
public final class RecordedGateway implements AutoCloseable {
    private static final long END_S_MAX = 120;

    private final Process process;
    private final BufferedReader output;
    private final GuestNamespace guest;

    private RecordedGateway(Process process, BufferedReader output, GuestNamespace guest) {
        this.process = process;
        this.output = output;
        this.guest = guest;
    }

    /// Starts it.
    ///
    /// @param folder for its record
    public static RecordedGateway start(Path folder, Origin origin) throws IOException {
        Path socket = folder.resolve("network");
        Path policy = Files.writeString(folder.resolve("policy.yaml"), policy(origin));
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--sun-misc-unsafe-memory-access=allow",
                        "-XX:+UseSerialGC",
                        "-Xmx640m",
                        "-XX:CompileCommand=quiet",
                        "-XX:CompileCommand=CompileThresholdScaling,com.sun.crypto.provider.*::*,0.05",
                        "-cp",
                        System.getProperty("java.class.path"),
                        GatewayProcess.class.getName(),
                        socket.toString(),
                        policy.toString(),
                        origin.certificate().toString(),
                        folder.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
        if (!GatewayProcess.READY.equals(output.readLine())) {
            process.destroyForcibly();
            throw new IOException("the gateway does not start");
        }
        return new RecordedGateway(process, output, GuestNamespace.start(folder, socket));
    }

    /// The last rule decides; before it are as many as a policy of somebody's own has.
    private static String policy(Origin origin) {
        return """
                version: 1
                rules:
                  - {id: model, host: api.model.example, methods: [POST], paths: ["/v1/messages", "/v1/messages/*"]}
                  - {id: source, host: "*.source.example", methods: [GET, HEAD]}
                  - {id: packages, host: packages.example, methods: [GET], paths: ["/**"], encodedSlash: true}
                  - {id: docs, host: docs.example, methods: [GET]}
                  - {id: bench, host: %s, methods: [GET], paths: ["/*"], upstream: "127.0.0.1:%d"}
                deny:
                  - {host: paste.source.example}
                """.formatted(Origin.NAME, origin.port());
    }

    public GuestNamespace guest() {
        return guest;
    }

    public ProcessCost cost() throws IOException {
        return ProcessCost.of(process);
    }

    /// Ends it, and says how many events it has recorded.
    public long end() throws IOException, InterruptedException {
        process.getOutputStream().close();
        String events = output.readLine();
        if (!process.waitFor(END_S_MAX, TimeUnit.SECONDS) || process.exitValue() != 0 || events == null) {
            throw new IOException("the gateway did not close its record");
        }
        return Long.parseLong(events);
    }

    @Override
    public void close() {
        guest.close();
        process.destroyForcibly();
    }
}
