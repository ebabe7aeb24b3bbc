package blackbox.recorder.runlog;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.sign.Ed25519Key;
import blackbox.recorder.seal.EphemeralKeys;
import blackbox.recorder.seal.RunSealer;
import blackbox.schemas.RunId;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class RunCheckpointsTest {

    private static final Duration NEVER = Duration.ofDays(1);
    private static final RunId RUN = RunId.create(Instant.EPOCH, new Random(4));

    @TempDir
    Path folder;

    private final Ed25519Key key = Ed25519Key.create("blackbox/log/test", new SecureRandom());
    private final List<String> said = new ArrayList<>();

    private TransparencyLogWriter log(Path in) {
        return new TransparencyLogWriter(
                in, new TransparencyLogWriter.Signer(List.of(key), Instant.EPOCH, null), InstantSource.system());
    }

    private RunSealer sealer(RunCheckpoints checkpoints) {
        return new RunSealer(RUN, new EphemeralKeys(RUN, new SecureRandom()), checkpoints, InstantSource.system());
    }

    private String entries() throws Exception {
        try (var files = Files.walk(folder.resolve("tile/entries"))) {
            Path last = files.filter(Files::isRegularFile).max(Path::compareTo).orElseThrow();
            return new String(Files.readAllBytes(last), UTF_8);
        }
    }

    @Test
    void theLastCheckpointIsLoggedAtTheEndAndOnlyOnce() throws Exception {
        var checkpoints = new RunCheckpoints(_ -> {}, log(folder), NEVER, said::add);
        RunSealer sealer = sealer(checkpoints);
        String first = sealer.seal().checkpoint();
        String last = sealer.seal().checkpoint();
        checkpoints.close();
        checkpoints.close();
        assertTrue(entries().contains(last));
        assertTrue(!entries().contains(first));
        assertEquals(2, log(folder).append(List.of(last)).firstIndex());
        assertEquals(List.of(), said);
    }

    @Test
    void aCheckpointIsLoggedWhileTheRunGoesOn() throws Exception {
        try (var checkpoints = new RunCheckpoints(_ -> {}, log(folder), Duration.ofMillis(1), said::add)) {
            String first = sealer(checkpoints).seal().checkpoint();
            long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
            while (!Files.exists(folder.resolve("tile/entries/000.p/2")) && System.nanoTime() < deadline) {
                Thread.onSpinWait();
            }
            assertTrue(entries().contains(first));
        }
    }

    @Test
    void aLogThatCannotBeWrittenStopsNoRunAndIsToldOf() throws Exception {
        Path taken = Files.writeString(folder.resolve("taken"), "a file where the log's folder should be");
        var checkpoints = new RunCheckpoints(_ -> {}, log(taken), NEVER, said::add);
        sealer(checkpoints).seal();
        checkpoints.close();
        assertEquals(1, said.size());
        assertTrue(said.getFirst().contains("log of runs"), said.getFirst());
    }
}
