package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.store.Recordings;
import blackbox.node.record.Installation.Ended;
import blackbox.replay.capture.Payload;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What the agent reads from its standard input arrives whole, and its end is seen, whether or not it was
/// all sent before the agent began.
final class StandardInputTest {

    private static final long SEED = 14;

    @TempDir
    static Path folder;

    private static Installation blackbox;

    @BeforeAll
    static void install() throws Exception {
        blackbox = Installation.in(folder);
    }

    /// The sizes are none, one octet, a pipe's buffer and more than the guest keeps. How the input comes is
    /// the same in both tiers; when it comes is not.
    @ParameterizedTest
    @CsvSource({"live, 0", "live, 1", "live, 65536", "live, 4000000", "exact, 0", "exact, 1000000"})
    void allOfAFileArrives(String tier, int size) throws Exception {
        byte[] octets = octets(size);
        File input =
                Files.write(Files.createTempFile(folder, "input", ""), octets).toFile();
        assertArrived(octets, blackbox.start(process(tier).redirectInput(input)).await());
    }

    @ParameterizedTest
    @CsvSource({"live, 65536", "exact, 65536"})
    void allOfAPipeArrives(String tier, int size) throws Exception {
        byte[] octets = octets(size);
        var running = blackbox.start(process(tier));
        Thread writer = Thread.ofPlatform().start(() -> {
            try (OutputStream out = running.process().getOutputStream()) {
                for (int at = 0; at < size; at += 4096) {
                    out.write(octets, at, Math.min(4096, size - at));
                    out.flush();
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        assertArrived(octets, running.await());
        writer.join();
    }

    /// A replay gives it again, octet for octet; an input whose end the agent did not see has none there
    /// either.
    @ParameterizedTest
    @CsvSource({"true", "false"})
    void aReplayGivesItAgain(boolean ends) throws Exception {
        byte[] octets = "one\ntwo\nthree".getBytes(StandardCharsets.UTF_8);
        String agent = "read a; read b; mkdir $a $b; " + (ends ? "cat > rest; mkdir $(cat rest)" : "exit 3");
        List<String> command = Installation.command("record", "--json", "--tier", "live", "--", "sh", "-c", agent);
        var running = blackbox.start(new ProcessBuilder(command));
        OutputStream input = running.process().getOutputStream();
        input.write(octets);
        if (ends) {
            input.close();
        } else {
            input.flush();
        }
        JsonNode recorded = running.await().expect(ends ? 0 : 3).recorded();
        input.close();
        String run = recorded.path("run").asText();
        var kept = Payload.of(Recordings.unchecked(blackbox.data()), new RunId(run), "stdin");
        try (InputStream in = kept.stream()) {
            assertArrayEquals(octets, in.readAllBytes());
        }
        String verdict = blackbox.run("replay", run, "--json").expect(0).out();
        assertTrue(verdict.contains("it was given all " + octets.length + " octets at once"), verdict);

        byte[] stored = Files.readAllBytes(kept.file());
        stored[stored.length / 2] ^= 1;
        Files.write(kept.file(), stored);
        assertRefused(run);
        // By somebody who has the key.
        Files.writeString(kept.file().resolveSibling("stdin"), "one\ntwo\ntwelve");
        kept.vault().encrypt(kept.run(), _ -> {});
        assertRefused(run);
    }

    private static void assertRefused(String run) throws Exception {
        String refused = blackbox.run("replay", run, "--json").expect(1).out();
        assertTrue(refused.contains("what the command read from its standard input"), refused);
    }

    private static ProcessBuilder process(String tier) {
        return new ProcessBuilder(new ArrayList<>(List.of(Installation.command(
                        "record", "--tier", tier, "--", "sh", "-c", "tee /tmp/all | sha256sum; wc -c < /tmp/all")
                .toArray(String[]::new))));
    }

    private static byte[] octets(int size) {
        var octets = new byte[size];
        new Random(SEED + size).nextBytes(octets);
        return octets;
    }

    private static void assertArrived(byte[] octets, Ended ended) {
        ended.expect(0);
        assertEquals(Hash.sha256(octets) + "  -\n" + octets.length + "\n", ended.out(), ended::err);
    }
}
