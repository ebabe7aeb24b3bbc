package blackbox.node.travel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.bundle.RunOrigin;
import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.sign.NoteVerifiers;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.verify.Verification;
import blackbox.evidence.verify.Verification.Integrity;
import blackbox.node.data.ImportStaging;
import blackbox.node.data.LocalTrust;
import blackbox.node.travel.TravelException.Code;
import blackbox.query.run.RunFacts;
import blackbox.recorder.keys.PayloadKeyFile;
import blackbox.replay.capture.SealedCapture;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.CaptureName;
import blackbox.schemas.folder.DataFolder;
import blackbox.vault.age.AgeIdentity;
import blackbox.vault.age.AgeLock;
import blackbox.vault.parcel.ParcelManifest;
import blackbox.vault.parcel.ParcelPart;
import blackbox.vault.parcel.ParcelReader;
import blackbox.vault.parcel.ParcelWriter;
import blackbox.vm.image.ImageStore;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A run leaves one data folder and arrives in another.
class RunTravelTest {

    @TempDir
    Path folder;

    private final AgeIdentity identity = AgeIdentity.create(new SecureRandom());
    private TravellingRun run;
    private DataFolder there;
    private Path file;

    @BeforeEach
    void record() throws Exception {
        run = new TravellingRun(folder.resolve("a"));
        there = new DataFolder(folder.resolve("b"));
        file = folder.resolve("run.bbrun");
    }

    private RunExport.Written export(Path out, boolean slim, AgeLock... locks) throws Exception {
        return new RunExport(run.data, _ -> {}).write(new RunExport.Request(run.run, out, slim, List.of(locks)));
    }

    private RunImport.Taken take(Path from, NoteVerifier... trusted) throws Exception {
        return new RunImport(there, _ -> {}).take(new RunImport.Request(from, identity, List.of(trusted)));
    }

    private NoteVerifier logKey() throws IOException {
        return NoteVerifiers.parse(Files.readString(run.data.logKey()).strip());
    }

    private Recordings arrived() {
        return new LocalTrust(there).recordings();
    }

    private Verification verified() throws IOException {
        return RunOrigin.verify(
                arrived(), run.run, new LocalTrust(there).trustedKeys(), null, new LocalTrust(there).anchorTrust());
    }

    /// What a data folder holds, but for what merely stays when an import was refused: the lock, and its own
    /// key.
    private static Map<String, Long> content(DataFolder data) throws IOException {
        var content = new TreeMap<String, Long>();
        if (Files.isDirectory(data.root())) {
            try (Stream<Path> all = Files.walk(data.root())) {
                for (Path each : (Iterable<Path>) all::iterator) {
                    String name = data.root().relativize(each).toString();
                    if (Files.isRegularFile(each) && !name.equals("imported/lock") && !name.startsWith("keys/")) {
                        content.put(name, Files.size(each));
                    }
                }
            }
        }
        return content;
    }

    private void assertNothingTaken() throws IOException {
        assertEquals(Map.of(), content(there));
        assertFalse(Files.exists(there.runKeys().resolve(run.run + ".key")));
    }

    @Test
    void aRunArrivesWholeAndUntrusted() throws Exception {
        RunExport.Written written = export(file, false, identity.recipient());
        assertEquals(Files.size(file), written.bytes());
        assertEquals(
                List.of("evidence", "frames-in", "stdin", "workspace", "entropy", "image.digests", "console", "image"),
                written.parts().stream().map(PartSize::part).toList());
        assertEquals(1, written.leftOut().size(), () -> written.leftOut().toString()); // there is no such QEMU
        RunImport.Taken taken = take(file);
        assertTrue(taken.fresh());
        assertFalse(taken.trusted());
        assertEquals(Integrity.VERIFIED, verified().integrity());
        assertFalse(verified().authorship().trusted());
        RunFacts facts = RunFacts.read(arrived(), run.run);
        assertEquals(new RunFacts.Imported(false), facts.imported());
        assertEquals("first", facts.name());
        for (SealedCapture each : SealedCapture.readAll(arrived(), run.run).values()) {
            each.check();
            assertTrue(each.payload().file().toString().endsWith(".enc"));
        }
        var vault = PayloadKeyFile.vault(there);
        try (InputStream in = vault.stream(run.run, "frames-in")) {
            assertArrayEquals(run.frames, in.readAllBytes());
        }
        assertEquals(List.of(), vault.unencrypted(run.run));
        assertEquals(0, new ImageStore(there.root()).list().size());
        assertEquals(1, new ImageStore(there.root()).listForReplay().size());
    }

    @Test
    void onlyAKeyMakesItTrustedAndOnlyForThisRun() throws Exception {
        export(file, true, identity.recipient());
        assertTrue(take(file, logKey()).trusted());
        assertTrue(verified().authorship().trusted());
        assertTrue(arrived().trust().trusts(run.run));
        assertFalse(new LocalTrust(there).trustedKeys().contains(logKey()));
        var other = new TravellingRun(folder.resolve("c"), 8);
        Path second = folder.resolve("second.bbrun");
        new RunExport(other.data, _ -> {})
                .write(new RunExport.Request(other.run, second, true, List.of(identity.recipient())));
        assertEquals(
                Code.ALTERED,
                assertThrows(TravelException.class, () -> take(second, logKey()))
                        .code());
        assertFalse(take(second).trusted());
    }

    @Test
    void aKeyCanBeNamedLater() throws Exception {
        export(file, true, identity.recipient());
        assertFalse(take(file).trusted());
        RunImport.Taken again = take(file, logKey());
        assertFalse(again.fresh());
        assertTrue(again.trusted());
        assertTrue(verified().authorship().trusted());
    }

    @Test
    void nothingThatIsHereIsReplaced() throws Exception {
        export(file, false, identity.recipient());
        assertTrue(take(file).fresh());
        Map<String, Long> before = content(there);
        assertFalse(take(file).fresh());
        assertEquals(before, content(there));
        // The same into the folder that recorded it.
        there = run.data;
        assertFalse(take(file).fresh());
        assertFalse(there.importedRun(run.run).toFile().exists());
        // Other events under the same id.
        there = new DataFolder(folder.resolve("d"));
        before = content(new TravellingRun(there.root(), run.run).data);
        assertEquals(
                Code.ALTERED,
                assertThrows(TravelException.class, () -> take(file)).code());
        assertEquals(before, content(there));
        assertFalse(there.importedRun(run.run).toFile().exists());
    }

    @Test
    void itTravelsOnAsItCame() throws Exception {
        export(file, false, identity.recipient());
        take(file);
        Path onwards = folder.resolve("onwards.bbrun");
        new RunExport(there, _ -> {})
                .write(new RunExport.Request(run.run, onwards, false, List.of(identity.recipient())));
        there = new DataFolder(folder.resolve("c"));
        assertTrue(take(onwards, logKey()).trusted());
        assertEquals(Integrity.VERIFIED, verified().integrity());
    }

    @Test
    void nothingSecretIsReadableUnlessAskedFor() throws Exception {
        export(file, false, identity.recipient());
        assertFalse(holds(file, TravellingRun.SECRET));
        assertFalse(holds(file, run.run.value()));
        Path clear = folder.resolve("clear.bbrun");
        assertFalse(export(clear, false).encrypted());
        assertTrue(holds(clear, run.run.value()));
        take(clear);
        try (Stream<Path> all = Files.walk(there.root())) {
            for (Path each : all.filter(Files::isRegularFile).toList()) {
                assertFalse(holds(each, TravellingRun.SECRET), each.toString());
            }
        }
    }

    private static boolean holds(Path file, String text) throws IOException {
        return new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1).contains(text);
    }

    @Test
    void theWrongKeyOpensNothing() throws Exception {
        export(file, true, identity.recipient());
        var request = new RunImport.Request(file, AgeIdentity.create(new SecureRandom()), List.of());
        var failure = assertThrows(TravelException.class, () -> new RunImport(there, _ -> {}).take(request));
        assertEquals(Code.BAD_INPUT, failure.code());
        var without = new RunImport.Request(file, null, List.of());
        assertEquals(
                Code.BAD_INPUT,
                assertThrows(TravelException.class, () -> new RunImport(there, _ -> {}).take(without))
                        .code());
        assertNothingTaken();
    }

    /// Of the file as it is sent, encrypted and not: one bit, a part, or an order that is another.
    @Test
    void whateverIsChangedIsRefusedAndNothingIsTaken() throws Exception {
        var random = new Random(22);
        export(file, false, identity.recipient());
        Path clear = folder.resolve("clear.bbrun");
        export(clear, false);
        for (Path original : List.of(file, clear)) {
            byte[] octets = Files.readAllBytes(original);
            for (int i = 0; i < 24; i++) {
                byte[] changed = changed(octets, i, random);
                Path planted = Files.write(folder.resolve("planted.bbrun"), changed);
                var failure = assertThrows(TravelException.class, () -> take(planted), "change " + i);
                assertTrue(failure.code() == Code.ALTERED || failure.code() == Code.BAD_INPUT, failure.getMessage());
                assertNothingTaken();
            }
        }
    }

    private static byte[] changed(byte[] octets, int kind, Random random) {
        int at = random.nextInt(octets.length);
        int other = random.nextInt(octets.length);
        int from = Math.min(at, other);
        int to = Math.max(at, other);
        byte[] changed = octets.clone();
        switch (kind % 6) {
            case 0 -> changed[at] ^= (byte) (1 << random.nextInt(8));
            case 1 -> changed = Arrays.copyOf(octets, at); // cut
            case 2 -> changed = Arrays.copyOf(octets, octets.length + 1 + random.nextInt(70_000)); // appended
            case 3 -> changed = joined(Arrays.copyOf(octets, from), Arrays.copyOfRange(octets, to + 1, octets.length));
            case 4 -> changed = joined(Arrays.copyOf(octets, to + 1), Arrays.copyOfRange(octets, from, octets.length));
            default -> {
                int half = Math.min((to - from) / 2, octets.length / 4) + 1;
                int first = Math.min(from, octets.length - 2 * half);
                byte[] before = Arrays.copyOfRange(octets, first, first + half);
                System.arraycopy(octets, first + half, changed, first, half);
                System.arraycopy(before, 0, changed, first + half, half); // swapped
            }
        }
        return changed;
    }

    private static byte[] joined(byte[] one, byte[] other) {
        byte[] joined = Arrays.copyOf(one, one.length + other.length);
        System.arraycopy(other, 0, joined, one.length, other.length);
        return joined;
    }

    /// Whoever can write a file that is well-formed and has the right digest: each part says something else
    /// than what the run sealed.
    @Test
    void aWellMadeFileWithOtherPartsIsRefused() throws Exception {
        Path clear = folder.resolve("clear.bbrun");
        export(clear, false);
        var other = new TravellingRun(folder.resolve("c"), 8);
        Path theirs = folder.resolve("theirs.bbrun");
        new RunExport(other.data, _ -> {}).write(new RunExport.Request(other.run, theirs, false, List.of()));
        Map<ParcelPart, byte[]> parts = parts(clear);
        Map<ParcelPart, byte[]> foreign = parts(theirs);
        for (ParcelPart part : parts.keySet()) {
            if (part.bytes() > 0 && !part.name().equals("image/image.json")) { // which says more than is sealed
                refused(
                        parts,
                        all -> all.computeIfPresent(part, (_, octets) -> {
                            byte[] changed = octets.clone();
                            changed[changed.length / 2] ^= 1;
                            return changed;
                        }));
            }
        }
        for (ParcelPart part : foreign.keySet()) { // mixed up with another run's
            if (part.bytes() > 0
                    && !part.name().startsWith("image/")
                    && parts.containsKey(part)
                    && !Arrays.equals(parts.get(part), foreign.get(part))) {
                refused(parts, all -> all.put(part, foreign.get(part)));
            }
        }
        for (String name : List.of(
                "capture/rr",
                "capture/shredded",
                "capture/frames-in.enc",
                "capture/a/b",
                "keys/log.pub",
                "other",
                "image/base.cpio",
                "qemu/other",
                "snapshot/ram",
                "capture/frames-out",
                "capture/stdout")) {
            refused(parts, all -> all.put(ParcelPart.file(name, 3), new byte[] {1, 2, 3}));
        }
        refused(parts, all -> all.put(new ParcelPart("image/vmlinuz2", 0, false, "vmlinuz"), new byte[0]));
    }

    private static Map<ParcelPart, byte[]> parts(Path file) throws IOException {
        var parts = new LinkedHashMap<ParcelPart, byte[]>();
        try (var in = Files.newInputStream(file);
                var reader = new ParcelReader(in)) {
            for (ParcelPart each : reader.manifest().parts()) {
                parts.put(each, reader.next().readAllBytes());
            }
        }
        return parts;
    }

    private void refused(Map<ParcelPart, byte[]> parts, Consumer<Map<ParcelPart, byte[]>> change) throws Exception {
        var changed = new LinkedHashMap<>(parts);
        change.accept(changed);
        var out = new ByteArrayOutputStream();
        try (var writer = new ParcelWriter(out, new ParcelManifest(run.run, List.copyOf(changed.keySet())), 0)) {
            for (byte[] octets : changed.values()) {
                long unused = writer.put(new ByteArrayInputStream(octets));
            }
            writer.finish();
        }
        Path planted = Files.write(folder.resolve("planted.bbrun"), out.toByteArray());
        var failure = assertThrows(TravelException.class, () -> take(planted));
        assertEquals(Code.ALTERED, failure.code(), failure.getMessage());
        assertNothingTaken();
    }

    /// The process dies after each step, or the step fails: the next start clears what there is, and another
    /// import succeeds.
    @Test
    void aKillLeavesNothingBehind() throws Exception {
        export(file, false, identity.recipient());
        List<String> steps = new ArrayList<>();
        take(there, steps::add);
        assertTrue(steps.contains("moved imported/runs/" + run.run), steps.toString());
        for (int i = 0; i < steps.size() - 1; i++) {
            there = new DataFolder(folder.resolve("kill-" + i));
            String last = steps.get(i);
            Path killed = folder.resolve("killed-" + i);
            assertThrows(
                    IOException.class,
                    () -> take(there, step -> {
                        if (step.equals(last)) {
                            copy(there.root(), killed); // what a kill would leave
                            throw new IOException("the disk failed after " + step);
                        }
                    }));
            assertNothingTaken();
            there = new DataFolder(killed);
            ImportStaging.clearLeft(there);
            assertNothingTaken();
            assertTrue(take(file).fresh(), last);
            assertEquals(Integrity.VERIFIED, verified().integrity());
        }
    }

    private static void take(DataFolder there, AgeIdentity identity, Path file, ImportStaging.Steps steps)
            throws Exception {
        var unused = new RunImport(there, _ -> {}, steps).take(new RunImport.Request(file, identity, List.of()));
    }

    private void take(DataFolder into, ImportStaging.Steps steps) throws Exception {
        take(into, identity, file, steps);
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path each : (Iterable<Path>) all::iterator) {
                Path target = to.resolve(from.relativize(each).toString());
                if (Files.isDirectory(each)) {
                    Files.createDirectories(target);
                } else {
                    Files.copy(each, target);
                }
            }
        }
    }

    @Test
    void oneImportAtATime() throws Exception {
        export(file, true, identity.recipient());
        try (@Nullable ImportStaging other = ImportStaging.tryOpen(there, _ -> {})) {
            assertNotNull(other);
            assertEquals(
                    Code.FAILED,
                    assertThrows(TravelException.class, () -> take(file)).code());
        }
        assertTrue(take(file).fresh());
    }

    @Test
    void whatWasAlteredHereDoesNotLeave() throws Exception {
        leavesNoMore("stdin", "something else, as long..".getBytes(StandardCharsets.UTF_8));
    }

    /// One that is long enough to be read on a thread of its own, which is the one that finds out.
    @Test
    void norDoesALongOne() throws Exception {
        byte[] altered = run.frames.clone();
        altered[altered.length - 1] ^= 1;
        leavesNoMore("frames-in", altered);
    }

    private void leavesNoMore(String name, byte[] altered) throws Exception {
        var vault = PayloadKeyFile.vault(run.data);
        Files.delete(vault.file(run.run, name));
        vault.store(run.run, name, altered);
        var failure = assertThrows(TravelException.class, () -> export(file, false, identity.recipient()));
        assertEquals(Code.ALTERED, failure.code());
        try (Stream<Path> left = Files.list(folder)) {
            assertEquals(
                    List.of("a"),
                    left.map(each -> each.getFileName().toString()).toList());
        }
        assertTrue(CaptureName.SECRET.contains(CaptureName.STDIN));
    }

    /// A file as it was written before several threads wrote it (2026-11-26): it arrives as it did then.
    @Test
    void aFileOfAnEarlierVersionArrives() throws Exception {
        RunId sent = new RunId("01m8d2fxbdqmq0bfwqpjby38vp");
        var theirs = AgeIdentity.parse("AGE-SECRET-KEY-1QV2KTDN49TMEWHLA3U8XL9JJWPVPXZAXP4WR44ZN923G9L3X08VS79RGSX");
        NoteVerifier key = NoteVerifiers.parse(
                "blackbox/log/01m8d2fxrs3f936z2ne2870q36+a6677a7f+" + "AYFRy8UBkbNguAZPN7kFKSqQku4Yx181Kj5IN0+XORP7");
        try (InputStream in = RunTravelTest.class.getResourceAsStream("v1.bbrun")) {
            Files.write(file, Objects.requireNonNull(in).readAllBytes());
        }
        RunImport.Taken taken = new RunImport(there, _ -> {}).take(new RunImport.Request(file, theirs, List.of(key)));
        assertEquals(sent, taken.run());
        assertTrue(taken.fresh());
        assertTrue(taken.trusted());
        var vault = PayloadKeyFile.vault(there);
        try (InputStream in = vault.stream(sent, "frames-in")) {
            assertEquals(
                    "be4bfe6ec34ffcecb6b07b7083992e2efdda82c3e3e2065fb51034c2a01f4726",
                    Hash.sha256(in.readAllBytes()).toString());
        }
        try (InputStream in = vault.stream(sent, "stdin")) {
            assertEquals(TravellingRun.SECRET, new String(in.readAllBytes(), StandardCharsets.UTF_8));
        }
        assertEquals(1, new ImageStore(there.root()).listForReplay().size());
    }
}
