package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;

import blackbox.node.record.Installation.Ended;
import blackbox.schemas.Hash;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What the agent reads from its standard input arrives whole, and its end is seen, whether or not it was all sent
/// before the agent began.
final class StandardInputTest {

    private static final long SEED = 14;

    @TempDir
    static Path folder;

    private static Installation blackbox;

    @BeforeAll
    static void install() throws Exception {
        blackbox = Installation.in(folder);
    }

    /// The sizes are none, one octet, a pipe's buffer and more than the guest keeps.
    @ParameterizedTest
    @CsvSource({
        "live, 0",
        "live, 1",
        "live, 65536",
        "live, 4000000",
        "exact, 0",
        "exact, 1",
        "exact, 65536",
        "exact, 1000000"
    })
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
