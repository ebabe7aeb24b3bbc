package blackbox.replay.kept;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.store.Recordings;
import blackbox.evidence.trust.ReplayNote.ReplayMethod;
import blackbox.recorder.keys.PayloadKeyFile;
import blackbox.replay.ReplayException;
import blackbox.replay.capture.SealedCapture;
import blackbox.replay.inputs.SealedStart;
import blackbox.replay.verdict.KeptReference;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.CaptureName;
import blackbox.schemas.folder.DataFolder;
import blackbox.vault.ShredMark;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A kept execution is all there and as it was stored, or it is refused; a thief with the disk reads nothing of what
/// the agent sent.
class KeptStoreTest {
    private static final RunId RUN = new RunId("01arz3ndektsv4rrffq69g5fav");
    private static final String SECRET = "the agent sent: hunter2-hunter2";

    @TempDir
    Path folder;

    private DataFolder data;
    private Recordings recordings;
    private KeptStore store;

    @BeforeEach
    void open() throws IOException {
        data = new DataFolder(folder.resolve("data"));
        Files.createDirectories(data.captures(RUN));
        recordings = Recordings.unchecked(data.root());
        store = new KeptStore(recordings, RUN);
    }

    private KeptReference keep(String name) throws IOException {
        Path captured = Files.createDirectories(folder.resolve("machine-" + name));
        for (CaptureName each : CaptureName.values()) {
            String content = CaptureName.SECRET.contains(each) ? SECRET + each.text() : "before the agent";
            Files.writeString(each.in(captured), each == CaptureName.CONSOLE ? "" : content);
        }
        return store.store(name, captured, (agreed, captures) -> {
            Files.writeString(agreed, "blackbox/agreed/v1\n");
            var start = new SealedStart(
                    ReplayMethod.EXACT,
                    "default",
                    Hash.sha256(new byte[1]),
                    Hash.sha256(new byte[2]),
                    new SealedStart.Workspace(Hash.sha256(name.getBytes(StandardCharsets.US_ASCII)), 7),
                    new SealedStart.SealedQemu("7.2", Hash.sha256(new byte[4])),
                    List.of("qemu", "-icount", "shift=4,rr=record"));
            var agreement = new KeptExecution.Agreement(Hash.sha256(Files.readAllBytes(agreed)), 1_961, 2_028);
            return new KeptExecution(RUN, start, 1_024, 0xffff_ffff_8123_4560L, captures, agreement);
        });
    }

    @Test
    void whatIsKeptIsReadAgain() throws Exception {
        KeptReference kept = keep("0badcafe");
        assertTrue(store.has(kept));
        KeptExecution execution = store.open(kept);
        assertEquals(0xffff_ffff_8123_4560L, execution.emitAddress());
        assertEquals(new KeptExecution.Agreement(execution.agreement().file(), 1_961, 2_028), execution.agreement());
        assertArrayEquals(
                execution.encode(), KeptExecution.decode(execution.encode()).encode());
        assertEquals(CaptureName.texts(CaptureName.EXACT), execution.captures().keySet());
        for (SealedCapture capture : store.captures(kept, execution).values()) {
            capture.check();
            try (InputStream in = capture.open()) {
                String content = new String(in.readAllBytes(), StandardCharsets.UTF_8);
                assertEquals(capture.name().equals("console") ? "" : SECRET + capture.name(), content);
            }
        }
    }

    @Test
    void nothingThatTheAgentSentIsReadableOnTheDisk() throws Exception {
        KeptReference kept = keep("0badcafe");
        try (Stream<Path> files = Files.walk(data.root())) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                String octets = Files.readString(file, StandardCharsets.ISO_8859_1);
                assertFalse(octets.contains("hunter2"), file::toString);
            }
        }
        PayloadKeyFile.vault(data).shred(new ShredMark(RUN, Instant.ofEpochSecond(1_764_000_000), "a test"));
        KeptExecution execution = store.open(kept);
        SealedCapture log = log(kept, execution);
        assertThrows(IOException.class, log::open);
    }

    @Test
    void anythingElseIsRefused() throws Exception {
        KeptReference kept = keep("0badcafe");
        KeptReference other = keep("0ddba110");
        assertRefused(ReplayException.Code.MISSING, new KeptReference("00000000", kept.sha256()));
        assertRefused(ReplayException.Code.ALTERED, new KeptReference(kept.name(), other.sha256()));
        change(store.folder(kept).resolve(KeptStore.AGREED));
        assertRefused(ReplayException.Code.ALTERED, kept);
        change(store.folder(other).resolve(KeptStore.DOCUMENT));
        assertRefused(ReplayException.Code.ALTERED, other);
    }

    /// Another execution's file, encrypted for its own place, does not pass for this one's.
    @Test
    void aFileOfAnotherExecutionIsRefused() throws Exception {
        KeptReference kept = keep("0badcafe");
        KeptReference other = keep("0ddba110");
        Path captures = data.captures(RUN);
        Files.copy(
                captures.resolve("kept-" + other.name() + "-rr.enc"),
                captures.resolve("kept-" + kept.name() + "-rr.enc"),
                StandardCopyOption.REPLACE_EXISTING);
        SealedCapture log = log(kept, store.open(kept));
        assertEquals(
                ReplayException.Code.ALTERED,
                assertThrows(ReplayException.class, log::check).code());
    }

    @Test
    void onlyWhatIsWantedStays() throws Exception {
        KeptReference first = keep("0badcafe");
        KeptReference newest = keep("0ddba110");
        Files.writeString(data.captures(RUN).resolve("kept-12345678-rr.enc"), "left by a process that was killed");
        Files.writeString(data.captures(RUN).resolve("stdout.enc"), "not ours");
        store.retain(Set.of(first, newest));
        store.open(first);
        store.retain(Set.of(newest));
        assertFalse(store.has(first));
        store.open(newest);
        try (Stream<Path> left = Files.list(data.captures(RUN))) {
            assertTrue(left.map(each -> each.getFileName().toString())
                    .allMatch(name -> name.startsWith("kept-0ddba110-") || name.equals("stdout.enc")));
        }
    }

    private SealedCapture log(KeptReference kept, KeptExecution execution) {
        return Objects.requireNonNull(store.captures(kept, execution).get(CaptureName.LOG.text()));
    }

    private void assertRefused(ReplayException.Code code, KeptReference kept) {
        assertEquals(
                code,
                assertThrows(ReplayException.class, () -> store.open(kept)).code());
    }

    private static void change(Path file) throws IOException {
        byte[] octets = Files.readAllBytes(file);
        octets[octets.length / 2] ^= 1;
        Files.write(file, octets);
    }
}
