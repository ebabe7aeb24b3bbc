package blackbox.replay.inputs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.store.Recordings;
import blackbox.evidence.trust.ReplayNote.ReplayMethod;
import blackbox.query.run.RunFacts;
import blackbox.query.run.RunState;
import blackbox.replay.ReplayException;
import blackbox.replay.divergence.cause.DivergenceClass;
import blackbox.replay.inputs.InputCheck.Ready;
import blackbox.replay.inputs.InputCheck.Refused;
import blackbox.replay.verdict.Refusal;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import blackbox.vm.FileFingerprint;
import blackbox.vm.FolderFingerprint;
import blackbox.vm.qemu.Qemu;
import blackbox.vm.workspace.WorkspaceSource;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A data folder with all that a run was started from, made as the code that records leaves it; then one thing
/// after the other is changed.
class InputCheckTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final RunId RUN = new RunId("01jd8x3k9zq4v7w2m5n6p8r0st");
    private static final String ARGUMENTS = "console=ttyS0 quiet";

    @TempDir
    Path data;

    private Path image = Path.of("");
    private Path snapshot = Path.of("");
    private Path qemu = Path.of("");
    private Path workspace = Path.of("");
    private String imageDigest = "";
    private String snapshotDigest = "";
    private String qemuDigest = "";

    @BeforeEach
    void make() throws Exception {
        image = Files.createDirectories(data.resolve("images/default"));
        snapshot = Files.createDirectories(data.resolve("snapshots/key"));
        workspace = Files.createDirectories(data.resolve("captures").resolve(RUN.value()))
                .resolve("workspace");
        Files.writeString(workspace, "an archive");
        makeImage();
        makeSnapshot();
        makeQemu();
    }

    private static String digest(String first, Map<String, FileFingerprint> files, List<String> names, String last) {
        var text = new StringBuilder(first + "\n");
        names.forEach(name -> text.append(name)
                .append(' ')
                .append(Objects.requireNonNull(files.get(name)).sha256())
                .append('\n'));
        return Hash.sha256((text + last).getBytes(StandardCharsets.UTF_8)).toString();
    }

    private static Map<String, FileFingerprint> files(Path folder, String... names) throws Exception {
        var fingerprints = new TreeMap<String, FileFingerprint>();
        for (String name : names) {
            fingerprints.put(
                    name, FileFingerprint.of(Files.writeString(folder.resolve(name), "the octets of " + name)));
        }
        return fingerprints;
    }

    private void makeImage() throws Exception {
        Map<String, FileFingerprint> fingerprints = files(image, "vmlinuz", "initrd.img", "root.erofs", "base.cpio");
        imageDigest = digest(
                "blackbox-image-v1",
                fingerprints,
                List.of("vmlinuz", "initrd.img", "root.erofs"),
                "arguments " + ARGUMENTS + "\n");
        ObjectNode record = JSON.createObjectNode().put("format", 1).put("digest", imageDigest);
        record.put("builtAt", "2026-11-22T00:00:00Z").put("lockRenewed", false);
        ObjectNode definition = record.putObject("definition").put("format", 1).put("name", "default");
        definition
                .put("suite", "bookworm")
                .put("architecture", "amd64")
                .put("kernel", "linux-image")
                .put("headers", "linux-headers");
        definition.putArray("packages").add("bash");
        definition.putArray("modules").add("virtio_blk");
        List.of(ARGUMENTS.split(" ")).forEach(definition.putArray("kernelArguments")::add);
        String none = Hash.sha256(new byte[0]).toString();
        ObjectNode lock = record.putObject("lock")
                .put("format", 1)
                .put("inputsSha256", none)
                .put("epoch", 1);
        lock.putArray("packages")
                .addObject()
                .put("name", "bash")
                .put("version", "5")
                .put("architecture", "amd64")
                .put("sha256", none)
                .put("bytes", 1)
                .put("use", "ROOT");
        record.set("files", JSON.valueToTree(fingerprints));
        record.putObject("guestFiles");
        record.putObject("tools");
        Files.writeString(image.resolve("image.json"), record.toString());
    }

    private void makeSnapshot() throws Exception {
        Map<String, FileFingerprint> fingerprints =
                files(snapshot, "ram", "devices", "state.qcow2", "overlay.qcow2", "events");
        snapshotDigest = digest("blackbox-snapshot-v1", fingerprints, List.of("ram", "devices", "state.qcow2"), "");
        ObjectNode record = JSON.createObjectNode().put("format", 1).put("digest", snapshotDigest);
        record.set("files", JSON.valueToTree(fingerprints));
        record.putObject("ready").put("kernel", "6.1").put("bootId", "b").put("tracer", "{}");
        Files.writeString(snapshot.resolve("snapshot.json"), record.toString());
    }

    private void makeQemu() throws Exception {
        Path made = Files.createDirectories(data.resolve("made/root/usr/bin"));
        Files.writeString(made.resolve("qemu-system-x86_64"), "a program");
        var seal = FolderFingerprint.of(data.resolve("made/root"));
        qemuDigest = seal.sha256();
        ObjectNode record = JSON.createObjectNode().put("format", 1).put("version", "QEMU 10 (Debian)");
        record.put("suite", "trixie").set("files", JSON.valueToTree(seal));
        record.putArray("packages")
                .addObject()
                .put("name", "qemu")
                .put("version", "1")
                .put("architecture", "amd64")
                .put("sha256", qemuDigest)
                .put("bytes", 1);
        Files.writeString(data.resolve("made/build.json"), record.toString());
        Files.createDirectories(data.resolve("qemu"));
        qemu = Files.move(data.resolve("made"), data.resolve("qemu").resolve(qemuDigest))
                .resolve("root");
    }

    private SealedStart start() throws Exception {
        return start(opening());
    }

    private ObjectNode opening() throws Exception {
        ObjectNode open = JSON.createObjectNode().put("tier", "live").put("snapshot", snapshotDigest);
        open.putObject("image").put("name", "default").put("digest", imageDigest);
        open.putObject("workspace")
                .put("sha256", FileFingerprint.hash(workspace).toString())
                .put("bytes", 10);
        ObjectNode machine =
                open.putObject("start").put("qemu", "QEMU 10 (Debian)").put("qemuSha256", qemuDigest);
        List.of("qemu", "-m", "1024").forEach(machine.putArray("argv")::add);
        return open;
    }

    private static SealedStart start(ObjectNode opening) throws ReplayException {
        var facts = new RunFacts(
                RUN, RunState.CLOSED, new RunFacts.Start(0, null, opening), null, 1, null, List.of(), null);
        return SealedStart.of(facts);
    }

    private InputCheck.Result check(SealedStart start, Set<String> captures, @Nullable Path given) throws Exception {
        return new InputCheck(Recordings.unchecked(data), RUN, start, given).check(captures);
    }

    private Refusal refused(SealedStart start) throws Exception {
        var refused = assertInstanceOf(Refused.class, check(start, Set.of(), null));
        assertEquals(1, refused.refusals().size(), refused::toString);
        return refused.refusals().getFirst();
    }

    /// Changes one octet in a way that the file system does not show.
    private static void flip(Path file) throws Exception {
        FileTime before = Files.getLastModifiedTime(file);
        byte[] octets = Files.readAllBytes(file);
        octets[octets.length / 2] ^= 1;
        assertTrue(file.toFile().setWritable(true));
        Files.write(file, octets);
        Files.setLastModifiedTime(file, before);
    }

    @Test
    void allAsItWasIsReady() throws Exception {
        var ready = assertInstanceOf(Ready.class, check(start(), Set.of(), null));
        assertEquals("default", ready.inputs().image().name());
        assertEquals(Qemu.Kind.UNPACKED, ready.inputs().qemu().kind());
        assertNotNull(ready.inputs().snapshot());
        var kept = assertInstanceOf(WorkspaceSource.Kept.class, ready.inputs().workspace());
        try (InputStream in = kept.opener().open()) {
            assertEquals("an archive", new String(in.readAllBytes(), StandardCharsets.UTF_8));
        }
    }

    @Test
    void oneOctetOfKernelInitrdOrRootIsFoundAndNamed() throws Exception {
        SealedStart start = start();
        for (String file : List.of("vmlinuz", "initrd.img", "root.erofs")) {
            flip(image.resolve(file));
            Refusal refusal = refused(start);
            assertEquals(DivergenceClass.IMAGE, refusal.kind());
            assertTrue(refusal.what().endsWith("file " + file), refusal.what());
            assertTrue(refusal.mend().contains("blackbox image verify default"), refusal.mend());
            flip(image.resolve(file));
        }
        Files.delete(image.resolve("root.erofs"));
        assertEquals(Refusal.NOT_HERE, refused(start).actual());
    }

    @Test
    void aKernelArgumentThatWasAddedToTheImagesRecordIsFound() throws Exception {
        SealedStart start = start();
        Path record = image.resolve("image.json");
        Files.writeString(record, Files.readString(record).replace("\"quiet\"", "\"quiet\",\"nokaslr\""));
        Refusal refusal = refused(start);
        assertEquals(DivergenceClass.IMAGE, refusal.kind());
        assertTrue(refusal.what().endsWith("its record"), refusal.what());
    }

    @Test
    void aNewerImageOfTheNameIsNotTakenAndTheOldOneIsFoundUnderAnotherFolder() throws Exception {
        SealedStart start = start();
        Files.move(image, data.resolve("images/kept"));
        assertInstanceOf(Ready.class, check(start, Set.of(), null));
        Files.writeString(data.resolve("images/kept/vmlinuz"), "a newer kernel");
        Path record = data.resolve("images/kept/image.json");
        String newer = Hash.sha256(new byte[1]).toString();
        Files.writeString(record, Files.readString(record).replace(imageDigest, newer));
        Refusal refusal = refused(start);
        assertEquals(imageDigest, refusal.expected());
        assertEquals(newer, refusal.actual());
        assertTrue(refusal.mend().contains("keeps the newest image of each name"), refusal.mend());
    }

    @Test
    void noImageAtAllSaysHowToBuildIt() throws Exception {
        SealedStart start = start();
        Files.delete(image.resolve("image.json"));
        Refusal refusal = refused(start);
        assertEquals(Refusal.NOT_HERE, refusal.actual());
        assertTrue(refusal.mend().startsWith("blackbox image build default"), refusal.mend());
    }

    @Test
    void aChangedOrMissingSnapshotIsFound() throws Exception {
        SealedStart start = start();
        for (String file : List.of("ram", "devices", "state.qcow2", "overlay.qcow2")) {
            flip(snapshot.resolve(file));
            Refusal refusal = refused(start);
            assertEquals(DivergenceClass.SNAPSHOT, refusal.kind());
            assertTrue(refusal.what().contains(file), refusal.what());
            flip(snapshot.resolve(file));
        }
        Files.delete(snapshot.resolve("snapshot.json"));
        Refusal gone = refused(start);
        assertEquals(DivergenceClass.SNAPSHOT, gone.kind());
        assertEquals(Refusal.NOT_HERE, gone.actual());
        assertNull(start(opening().putNull("snapshot")).snapshot());
        assertInstanceOf(Ready.class, check(start(opening().putNull("snapshot")), Set.of(), null));
    }

    @Test
    void anExactRecordingIsHeldToTheSnapshotThatItKeeps() throws Exception {
        SealedStart start = start(opening().put("tier", "exact"));
        Refusal refusal = refused(start);
        assertEquals(DivergenceClass.SNAPSHOT, refusal.kind());
        assertTrue(refusal.what().contains("base.digests"), refusal.what());
    }

    @Test
    void aChangedWorkspaceIsFoundAndMayBeGiven() throws Exception {
        SealedStart start = start();
        Path copy = Files.copy(workspace, data.resolve("copy"));
        flip(workspace);
        Refusal refusal = refused(start);
        assertEquals(DivergenceClass.IMAGE, refusal.kind());
        assertTrue(refusal.mend().contains("--workspace"), refusal.mend());
        Files.delete(workspace);
        assertEquals(Refusal.NOT_HERE, refused(start).actual());
        var ready = assertInstanceOf(Ready.class, check(start, Set.of(), copy));
        assertEquals(new WorkspaceSource.Given(copy), ready.inputs().workspace());
    }

    @Test
    void aFolderThatPacksToAnotherArchiveIsRefused() throws Exception {
        Path folder = Files.createDirectory(data.resolve("given"));
        Files.writeString(folder.resolve("file"), "text");
        var refused = assertInstanceOf(Refused.class, check(start(), Set.of(), folder));
        assertEquals(DivergenceClass.IMAGE, refused.refusals().getFirst().kind());
        assertTrue(refused.refusals().getFirst().what().endsWith("packed"));
    }

    @Test
    void anotherQemuIsRefused() throws Exception {
        SealedStart start = start(opening().put("tier", "exact").putNull("snapshot"));
        flip(qemu.resolve("usr/bin/qemu-system-x86_64"));
        Refusal refusal = refused(start);
        assertEquals(DivergenceClass.ENGINE, refusal.kind());
        assertEquals(qemuDigest, refusal.expected());
        assertTrue(refusal.mend().contains("blackbox doctor --fix"), refusal.mend());
        Files.delete(qemu.resolveSibling("build.json"));
        assertEquals(DivergenceClass.ENGINE, refused(start).kind());
    }

    @Test
    void aCapturedFileThatTheRunDidNotSealIsMissed() throws Exception {
        var refused = assertInstanceOf(Refused.class, check(start(), Set.of("frames-in"), null));
        Refusal refusal = refused.refusals().getFirst();
        assertEquals(DivergenceClass.RECORDER_GAP, refusal.kind());
        assertEquals(Refusal.NOT_HERE, refusal.actual());
    }

    @Test
    void everythingThatIsWrongIsReportedAtOnce() throws Exception {
        SealedStart start = start();
        flip(image.resolve("vmlinuz"));
        flip(snapshot.resolve("ram"));
        flip(workspace);
        flip(qemu.resolve("usr/bin/qemu-system-x86_64"));
        var refused = assertInstanceOf(Refused.class, check(start, Set.of("rr"), null));
        assertEquals(
                List.of(
                        DivergenceClass.IMAGE,
                        DivergenceClass.IMAGE,
                        DivergenceClass.ENGINE,
                        DivergenceClass.RECORDER_GAP,
                        DivergenceClass.SNAPSHOT),
                refused.refusals().stream().map(Refusal::kind).toList());
    }

    @Test
    void aFirstEventThatDoesNotSayEnoughIsRefused() throws Exception {
        assertEquals(ReplayMethod.EXACT, start(opening().put("tier", "exact")).tier());
        assertEquals(ReplayMethod.RERUN, start(opening().put("tier", "live")).tier());
        for (String field : List.of("image", "workspace", "start")) {
            ObjectNode lacking = opening();
            lacking.remove(field);
            var failure = assertThrows(ReplayException.class, () -> start(lacking));
            assertEquals(ReplayException.Code.BAD_INPUT, failure.code());
        }
    }

    @Test
    void aCommandLineIsComparedWordByWord() throws Exception {
        List<String> sealed = start().argv();
        assertNull(Argv.compare(sealed, List.of("qemu", "-m", "1024")));
        Refusal memory = Argv.compare(sealed, List.of("qemu", "-m", "2048"));
        assertNotNull(memory);
        assertEquals("QEMU's command line, word 3, after '-m'", memory.what());
        assertEquals("1024", memory.expected());
        assertEquals("2048", memory.actual());
        Refusal more = Argv.compare(sealed, List.of("qemu", "-m", "1024", "-device"));
        assertNotNull(more);
        assertEquals("(no word)", more.expected());
        assertNotNull(Argv.compare(sealed, List.of("qemu", "-m")));
        assertNotNull(Argv.compare(sealed, List.of()));
    }
}
