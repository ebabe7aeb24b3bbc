package blackbox.node.mcp;

import blackbox.vm.LineReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.SequenceInputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/// MCP's transport `stdio`: a message on each line. Answers go out as they are ready.
public final class McpStream {
    private static final int LINE_BYTES_MAX = 1 << 20;
    private static final int UNANSWERED_MAX = 64;

    private final McpEndpoint endpoint;
    private final OutputStream out;
    private volatile @Nullable IOException failure;

    private McpStream(McpEndpoint endpoint, OutputStream out) {
        this.endpoint = endpoint;
        this.out = out;
    }

    /// Answers until the input ends and everything that was asked is answered.
    ///
    /// @throws IOException when a line is longer than 1 MiB, or an answer cannot be written
    public static void serve(McpEndpoint endpoint, InputStream in, OutputStream out)
            throws IOException, InterruptedException {
        new McpStream(endpoint, out).serve(in);
    }

    private void serve(InputStream in) throws IOException, InterruptedException {
        // A last line counts without its end, too.
        var ended = new SequenceInputStream(in, new ByteArrayInputStream(new byte[] {'\n'}));
        var lines = new LineReader(ended, LINE_BYTES_MAX);
        var free = new Semaphore(UNANSWERED_MAX);
        // Not virtual threads: DuckDB's native code and long hashing would hold those that carry them.
        try (var answering = Executors.newCachedThreadPool()) {
            for (String line = lines.next(); line != null && failure == null; line = lines.next()) {
                if (line.isBlank()) {
                    continue;
                }
                String message = line;
                free.acquire();
                answering.execute(() -> {
                    try {
                        write(endpoint.answer(message));
                    } finally {
                        free.release();
                    }
                });
            }
        }
        IOException failed = failure;
        if (failed != null) {
            throw failed;
        }
    }

    private synchronized void write(@Nullable String answer) {
        if (answer == null) {
            return;
        }
        try {
            out.write((answer + "\n").getBytes(StandardCharsets.UTF_8));
            out.flush();
        } catch (IOException e) {
            failure = e;
        }
    }
}
