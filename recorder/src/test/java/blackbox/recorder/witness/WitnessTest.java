package blackbox.recorder.witness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.sign.CosignatureKey;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.witness.AddCheckpoint;
import blackbox.evidence.witness.TestHistory;
import blackbox.files.AtomicFiles;
import blackbox.files.AtomicFiles.Step;
import blackbox.recorder.RecorderException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WitnessTest {

    private static final Instant NOW = Instant.parse("2026-11-22T03:00:00Z");
    private static final InstantSource CLOCK = InstantSource.fixed(NOW);
    private static final Ed25519Key LOG = Ed25519Key.create("example/log", new SecureRandom());
    private static final Ed25519Key OTHER_LOG = Ed25519Key.create("example/other-log", new SecureRandom());
    private static final CosignatureKey KEY = CosignatureKey.createEd25519("witness.example/w1", new SecureRandom());
    private static final List<NoteVerifier> LOGS = List.of(LOG.verifier(), OTHER_LOG.verifier());

    @TempDir
    private Path folder;

    private final TestHistory history = new TestHistory(1, 50, LOG);

    @Test
    void aLogIsFollowedAcrossRestarts() throws Exception {
        for (int size = 0; size <= 20; size += 5) {
            try (Witness witness = open(AtomicFiles.onDisk())) {
                WitnessAnswer answer = witness.addCheckpoint(
                        history.from(Math.max(0, size - 5), size).encoded());
                assertCosigned(answer, history.at(size));
                // Asked again, it says the same.
                assertCosigned(witness.addCheckpoint(history.from(size, size).encoded()), history.at(size));
            }
        }
        var other = new TestHistory(9, 5, OTHER_LOG);
        try (Witness witness = open(AtomicFiles.onDisk())) {
            assertCosigned(witness.addCheckpoint(other.from(0, 5).encoded()), other.at(5));
            assertEquals(new WitnessAnswer(409, WitnessAnswer.SIZE_TYPE, "20\n"), ask(witness, history.from(0, 50)));
        }
    }

    @Test
    void anotherHistoryOfTheSameLogIsRefused() throws Exception {
        var other = new TestHistory(2, 50, LOG);
        try (Witness witness = open(AtomicFiles.onDisk())) {
            assertEquals(200, ask(witness, history.from(0, 10)).status());
            assertEquals(422, ask(witness, other.from(10, 20)).status());
            assertEquals(new WitnessAnswer(409, WitnessAnswer.SIZE_TYPE, "10\n"), ask(witness, other.from(10, 10)));
            assertEquals(409, ask(witness, other.from(0, 20)).status());
            // Neither is a smaller tree of the true one cosigned again.
            assertEquals(new WitnessAnswer(409, WitnessAnswer.SIZE_TYPE, "10\n"), ask(witness, history.from(5, 8)));
            assertEquals(200, ask(witness, history.from(10, 11)).status());
        }
    }

    @Test
    void whatCannotBeCosignedIsToldApart() throws Exception {
        var strangers = new TestHistory(1, 5, Ed25519Key.create("example/unknown", new SecureRandom()));
        var forged = new TestHistory(1, 5, Ed25519Key.create("example/log", new SecureRandom()));
        try (Witness witness = open(AtomicFiles.onDisk())) {
            assertEquals(404, ask(witness, strangers.from(0, 5)).status());
            assertEquals(403, ask(witness, forged.from(0, 5)).status());
            assertEquals(
                    400,
                    ask(witness, new AddCheckpoint(6, List.of(), history.note(5), history.at(5)))
                            .status());
            assertEquals(400, witness.addCheckpoint(new byte[0]).status());
            assertEquals(
                    400,
                    witness.addCheckpoint("old 0\n\n".getBytes(StandardCharsets.UTF_8))
                            .status());
            assertEquals(200, ask(witness, history.from(0, 5)).status());
        }
    }

    /// Stops the witness at each step of keeping its record, as a crash would, then asks its successor.
    /// Whatever was stopped, the checkpoint is recorded or it is not, nothing was cosigned, and no other
    /// history gets in after it was.
    @Test
    void aCrashAtAnyStepLeavesOneHistory() throws Exception {
        var other = new TestHistory(2, 50, LOG);
        for (Step step : Step.values()) {
            for (int before : new int[] {0, 10}) {
                Path place = folder.resolve(step + "-" + before);
                try (Witness witness = Witness.open(place, KEY, LOGS, CLOCK)) {
                    ask(witness, history.from(0, before));
                }
                AtomicFiles crashing = AtomicFiles.watchedBy(done -> {
                    if (done == step) {
                        throw new IOException("crash after " + done);
                    }
                });
                try (Witness witness = Witness.open(place, KEY, LOGS, CLOCK, crashing)) {
                    assertThrows(RecorderException.class, () -> ask(witness, history.from(before, 20)));
                    // The same witness goes on: it reads its record, and believes nothing else.
                    int known = step == Step.WRITTEN ? before : 20;
                    assertEquals(200, ask(witness, history.from(known, known)).status());
                }
                try (Witness witness = Witness.open(place, KEY, LOGS, CLOCK)) {
                    int size = step == Step.WRITTEN ? before : 20;
                    assertEquals(
                            "%d\n".formatted(size),
                            ask(witness, history.from(1, 30)).body());
                    int refused = size == 0 ? 200 : 422;
                    assertEquals(refused, ask(witness, other.from(size, 30)).status(), step + " " + before);
                }
            }
        }
    }

    @Test
    void aDamagedRecordStopsTheWitness() throws Exception {
        try (Witness witness = open(AtomicFiles.onDisk())) {
            ask(witness, history.from(0, 10));
        }
        Path state;
        try (var files = Files.list(folder)) {
            state = files.filter(file -> file.toString().endsWith(".checkpoint"))
                    .findFirst()
                    .orElseThrow();
        }
        byte[] octets = Files.readAllBytes(state);
        for (String damage : List.of(
                "",
                "example/log\n10\n",
                new TestHistory(1, 10, OTHER_LOG).at(10).text())) {
            Files.writeString(state, damage);
            try (Witness witness = open(AtomicFiles.onDisk())) {
                assertThrows(RecorderException.class, () -> ask(witness, history.from(10, 20)));
            }
        }
        Files.write(state, octets);
        try (Witness witness = open(AtomicFiles.onDisk())) {
            assertEquals(200, ask(witness, history.from(10, 20)).status());
            assertThrows(RecorderException.class, () -> open(AtomicFiles.onDisk()));
        }
    }

    /// Two histories are submitted by many clients at once; whatever the order, the cosigned checkpoints are
    /// of one history, at most one for each size.
    @Test
    void clientsAtOnceGetAnswersThatAgree() throws Exception {
        for (int round = 0; round < 5; round++) {
            Map<Long, String> cosigned = new TreeMap<>();
            int winner = -1;
            try (Witness witness = Witness.open(folder.resolve("round-" + round), KEY, LOGS, CLOCK);
                    ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
                List<Callable<List<AddCheckpoint>>> calls =
                        List.of(() -> climb(witness, 1), () -> climb(witness, 2), () -> climb(witness, 1));
                for (Future<List<AddCheckpoint>> call : clients.invokeAll(calls)) {
                    for (AddCheckpoint request : call.get()) {
                        Checkpoint checkpoint = request.checkpoint();
                        String text = checkpoint.text();
                        assertEquals(text, cosigned.computeIfAbsent(checkpoint.size(), _ -> text));
                        int which =
                                text.equals(history.at((int) checkpoint.size()).text()) ? 1 : 2;
                        assertTrue(winner < 0 || winner == which, "two histories");
                        winner = which;
                    }
                }
            }
            assertEquals(50, cosigned.size());
        }
    }

    /// Submits every size in turn, goes on from the size it is told, and gives back what was cosigned.
    private static List<AddCheckpoint> climb(Witness witness, int number) throws RecorderException {
        var history = new TestHistory(number, 50, LOG);
        var cosigned = new ArrayList<AddCheckpoint>();
        int known = 0;
        for (int size = 1; size <= 50; ) {
            AddCheckpoint request = history.from(Math.min(known, size), size);
            WitnessAnswer answer = witness.addCheckpoint(request.encoded());
            if (answer.status() == 200) {
                cosigned.add(request);
                known = size++;
            } else if (answer.status() == 409
                    && known < Integer.parseInt(answer.body().strip())) {
                known = Integer.parseInt(answer.body().strip());
                size = Math.max(size, known);
            } else {
                return cosigned;
            }
        }
        return cosigned;
    }

    private Witness open(AtomicFiles files) throws RecorderException {
        return Witness.open(folder, KEY, LOGS, CLOCK, files);
    }

    private static WitnessAnswer ask(Witness witness, AddCheckpoint request) throws RecorderException {
        return witness.addCheckpoint(request.encoded());
    }

    private void assertCosigned(WitnessAnswer answer, Checkpoint checkpoint) {
        assertEquals(200, answer.status(), answer.body());
        SignedNote note = SignedNote.parse(checkpoint.text() + "\n" + answer.body());
        assertNotNull(note);
        assertEquals(List.of(KEY.verifier()), note.signers(List.of(KEY.verifier())));
    }
}
