package blackbox.replay.seek;

import blackbox.replay.capture.SealedCapture;
import blackbox.schemas.folder.CaptureName;
import blackbox.vm.guest.AgentOutput;
import blackbox.vm.replay.SteppedMachine;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Map;

/// The last 64 KiB of what a guest has written so far: what precedes the machine's start is from the recording,
/// what it has written since from the machine.
public final class GuestOutput {
    private static final int BYTES_MAX = 64 << 10;

    private GuestOutput() {}

    /// What is on the console, as the text `console`.
    ///
    /// @param captures the recording's files, by name
    public static ObjectNode console(Map<String, SealedCapture> captures, SteppedMachine machine) throws IOException {
        var tail = new Tail();
        var chunk = new byte[BYTES_MAX];
        try (InputStream in = written(captures, machine, CaptureName.CONSOLE.text())) {
            for (int n = in.read(chunk); n > 0; n = in.read(chunk)) {
                tail.add(chunk, n);
            }
        }
        return new ObjectMapper().createObjectNode().put("console", tail.text());
    }

    /// What the agent has printed, as the texts `stdout` and `stderr`.
    public static ObjectNode agent(Map<String, SealedCapture> captures, SteppedMachine machine) throws IOException {
        var out = new Tail();
        var error = new Tail();
        try (InputStream in = written(captures, machine, CaptureName.STDIO.text())) {
            AgentOutput.read(
                    in,
                    (stream, octets) -> (stream == AgentOutput.Stream.STDOUT ? out : error).add(octets, octets.length));
        }
        return new ObjectMapper().createObjectNode().put("stdout", out.text()).put("stderr", error.text());
    }

    private static InputStream written(Map<String, SealedCapture> captures, SteppedMachine machine, String name)
            throws IOException {
        SealedCapture recorded = captures.get(name);
        InputStream before =
                recorded == null ? InputStream.nullInputStream() : recorded.open(machine.writtenBefore(name));
        return new SequenceInputStream(before, Files.newInputStream(machine.capture(name)));
    }

    /// Keeps the end of what is added.
    private static final class Tail {
        private final byte[] ring = new byte[BYTES_MAX];
        private long count;

        void add(byte[] octets, int length) {
            for (int i = Math.max(0, length - BYTES_MAX); i < length; i++) {
                ring[(int) ((count + i) % BYTES_MAX)] = octets[i];
            }
            count += length;
        }

        String text() {
            int length = (int) Math.min(count, BYTES_MAX);
            byte[] octets = new byte[length];
            for (int i = 0; i < length; i++) {
                octets[i] = ring[(int) ((count - length + i) % BYTES_MAX)];
            }
            return new String(octets, StandardCharsets.UTF_8);
        }
    }
}
