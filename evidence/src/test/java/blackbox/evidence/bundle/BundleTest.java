package blackbox.evidence.bundle;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.EvidenceException;
import blackbox.evidence.TestEvents;
import blackbox.evidence.TestLog;
import blackbox.evidence.TestRun;
import blackbox.evidence.anchor.AnchorTrust;
import blackbox.evidence.attest.DsseEnvelope;
import blackbox.evidence.attest.InTotoStatement;
import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.log.TrustPolicy;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.time.TestTimeAuthority;
import blackbox.evidence.time.TimeAnswer;
import blackbox.evidence.time.TimeAuthorities;
import blackbox.evidence.time.TimeQuery;
import blackbox.evidence.verify.Verification;
import blackbox.evidence.verify.Verification.Completeness;
import blackbox.evidence.verify.Verification.Integrity;
import blackbox.evidence.verify.Verification.Time;
import blackbox.schemas.Hash;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.Kind;
import blackbox.schemas.table.EventsTable;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BundleTest {

    private static final int SMALL_BYTES = 250;

    @TempDir
    private Path folder;

    private TestRun run;
    private TestLog log;
    private Recordings recordings;
    private final Random random = new Random(59);

    /// A closed run, most of it in the table and its end in the spool, and a log of runs that knows it.
    @BeforeEach
    void record() throws Exception {
        Path data = folder.resolve("data");
        log = new TestLog(data.resolve("log")).begin();
        run = TestEvents.smallBuild(TestRun.certified(data, log), 4);
        run.table(0, 3, "PARQUET_VERSION v2");
        run.spool(3, run.batches.size());
        run.logCheckpoints(1, run.batches.size());
        log.publish();
        Files.createDirectories(data.resolve("keys"));
        Files.writeString(data.resolve("keys/log.pub"), log.key.verifier().encoded() + "\n");
        recordings = Recordings.unchecked(data);
    }

    private Path zip() throws Exception {
        Path zip = folder.resolve("run.bundle.zip");
        BundleWriter.write(recordings, run.run, log.key, zip);
        return zip;
    }

    private Path unpacked() throws Exception {
        Path unpacked = Files.createDirectory(folder.resolve("unpacked"));
        BundleWriter.write(recordings, run.run, log.key, unpacked);
        return unpacked;
    }

    private List<NoteVerifier> trusted() {
        return List.of(log.key.verifier());
    }

    private Verification verify(Path bundle) throws IOException {
        return BundleVerifier.verify(bundle, trusted(), AnchorTrust.none());
    }

    /// The log of runs keeps a partial tile for each of its sizes; a bundle needs those of one.
    @Test
    void whatAVerifierNeedsToComputeLeavesIsInTheBundle() throws Exception {
        var tables = FormatTables.all();
        assertEquals(List.of("columns.json", "kinds.json", "sources.json"), List.copyOf(tables.keySet()));
        var json = new ObjectMapper();
        var columns = json.readTree(tables.get("columns.json"));
        assertEquals(EventsTable.COLUMNS.size(), columns.size());
        assertEquals(
                "{\"name\":\"run\",\"fieldId\":101,\"type\":\"string\",\"required\":true,\"leaf\":null}",
                columns.get(0).toString());
        for (int i = 0; i < columns.size(); i++) {
            assertEquals(
                    EventsTable.COLUMNS.get(i).fieldId(),
                    columns.get(i).get("fieldId").asInt());
        }
        assertEquals(
                Kind.values().length, json.readTree(tables.get("kinds.json")).size());
        assertEquals(
                "[{\"code\":1,\"name\":\"guest\"},{\"code\":2,\"name\":\"host\"}]\n",
                new String(tables.get("sources.json"), StandardCharsets.UTF_8));
        assertTrue(BundleLayout.PAGES.contains("keys.md"), "who signs, and where these keys are kept");
    }

    @Test
    void tilesOfEarlierSizesStayBehind() throws Exception {
        for (int leaf = 0; leaf < 30; leaf++) {
            log.add("leaf " + leaf);
            log.publish();
        }
        Path unpacked = unpacked();
        try (Stream<Path> tiles = Files.walk(unpacked.resolve("log/tile"))) {
            assertEquals(2, tiles.filter(Files::isRegularFile).count());
        }
    }

    /// The page of the format lists them; a draft beside the policy stays behind, as a private key does.
    @Test
    void ofTheKeysItHasPublicOnesAndThePolicy() throws Exception {
        Path keys = recordings.keys();
        Files.createDirectory(keys.resolve("time"));
        for (String name : List.of("policy", "old.policy", "log.key", "time/root.pem")) {
            Files.writeString(keys.resolve(name), "quorum none\n");
        }
        Path taken = unpacked().resolve("keys");
        try (Stream<Path> files = Files.walk(taken)) {
            assertEquals(
                    Set.of("log.pub", "recorder.pub", "policy", "time/root.pem"),
                    files.filter(Files::isRegularFile)
                            .map(file -> taken.relativize(file).toString())
                            .collect(Collectors.toSet()));
        }
    }

    private void assertTampered(Path bundle, String what) throws IOException {
        Verification verification = verify(bundle);
        assertEquals(Integrity.TAMPERED, verification.integrity(), what);
        assertFalse(verification.findings().isEmpty(), what);
    }

    @Test
    void holdsAsZipAndAsFolder() throws Exception {
        for (Path bundle : List.of(zip(), unpacked())) {
            Verification verification = verify(bundle);
            assertEquals(Integrity.VERIFIED, verification.integrity(), verification::toString);
            assertEquals(Completeness.LOSS_DECLARED, verification.completeness());
            assertEquals(run.batches.getLast().endIndex(), verification.events());
            assertTrue(verification.authorship().trusted());
        }
    }

    @Test
    void whatIsNotKnownOfARunIsNotKnownInItsBundle() throws Exception {
        Path data = folder.resolve("died");
        log = new TestLog(data.resolve("log")).begin();
        run = TestRun.certified(data, log).open("died");
        run.heartbeat(false);
        long from = run.nextIndex();
        run.seal();
        run.closeUnfinished(0);
        run.spool(0, run.batches.size());
        run.logCheckpoints(1, run.batches.size());
        log.publish();
        recordings = Recordings.unchecked(data);
        Path unpacked = unpacked();
        var report = new ObjectMapper()
                .readTree(unpacked.resolve(BundleLayout.COMPLETENESS).toFile());
        assertEquals(2, report.path("version").asInt());
        assertFalse(report.path("lossKnown").asBoolean(true));
        assertEquals(from, report.path("unknownFrom").asLong(-1));
        assertEquals("[\"TRACER_UNFINISHED\"]", report.path("unknownBecause").toString());
        Verification verification = verify(unpacked);
        assertEquals(Integrity.VERIFIED, verification.integrity(), verification::toString);
        assertEquals(Completeness.UNKNOWN, verification.completeness());
        assertEquals(from, verification.unknownFrom());
        assertFalse(verification.holds());
    }

    @Test
    void lossesBeyondAnyCountAreNeitherNegativeNorKnown() throws Exception {
        run = new TestRun(folder.resolve("lost")).open("lost");
        run.heartbeat(false);
        long from = run.nextIndex();
        for (long lost : new long[] {Long.MAX_VALUE - 1, 2}) {
            run.add(new Event.RecorderLoss(EventHeader.host(run.tick()), lost, "probe-missed", null));
        }
        run.close(0);
        run.spool(0, run.batches.size());
        byte[] report = CompletenessReport.of(Recordings.unchecked(run.data), run.run, CompletenessReport.VERSION);
        var json = new ObjectMapper().readTree(report);
        for (String sum : List.of("declaredLost", "lost")) {
            assertEquals(Long.MAX_VALUE, json.path(sum).asLong(), json::toString);
        }
        assertFalse(json.path("lossKnown").asBoolean(true));
        assertEquals(from, json.path("unknownFrom").asLong(-1));
        assertEquals("[\"LOSS_BEYOND_COUNT\"]", json.path("unknownBecause").toString());
    }

    /// As earlier versions made it, but for a report of today's.
    @Test
    void aBundleHasTheReportOfItsFormat() throws Exception {
        Path unpacked = unpacked();
        Path statement = unpacked.resolve(BundleLayout.STATEMENT);
        Files.write(statement, restated(unpacked, BundleLayout.FIRST_VERSION));
        assertTampered(unpacked, "the second report in the first format");
        Path report = unpacked.resolve(BundleLayout.COMPLETENESS);
        Files.write(report, CompletenessReport.of(recordings, run.run, 1));
        Files.write(statement, restated(unpacked, BundleLayout.FIRST_VERSION));
        assertTrue(verify(unpacked).holds());
        Files.write(statement, restated(unpacked, BundleLayout.VERSION));
        assertTampered(unpacked, "the first report in the second format");
        Files.write(statement, restated(unpacked, "bundle/v3"));
        assertTampered(unpacked, "a format that nobody knows");
    }

    @Test
    void isTheSameOctetsEachTime() throws Exception {
        byte[] first = Files.readAllBytes(zip());
        assertArrayEquals(first, Files.readAllBytes(zip()));
    }

    @Test
    void itsOwnKeysShowThatItIsConsistentAndNoMore() throws Exception {
        Verification verification = BundleVerifier.verify(zip(), List.of(), AnchorTrust.none());
        assertEquals(Integrity.VERIFIED, verification.integrity(), verification::toString);
        assertFalse(verification.authorship().trusted());
        assertTrue(verification.findings().getLast().what().contains("--key"), verification::toString);
    }

    /// The bundle brings the stamp along; whose stamps count is the auditor's choice and never the bundle's.
    @Test
    void anAuditorsTimeAuthorityAnchorsIt() throws Exception {
        var authority = TestTimeAuthority.create(TestTimeAuthority.Algorithm.ECDSA);
        var other = TestTimeAuthority.create(TestTimeAuthority.Algorithm.ECDSA);
        Path anchors = Files.createDirectories(recordings.log().resolve("anchors"));
        String text = log.checkpoint().text();
        Hash imprint = Hash.sha256(text.getBytes(StandardCharsets.UTF_8));
        byte[] query = TimeQuery.create(imprint, new SecureRandom()).encoded();
        TimeAnswer answer = TimeAnswer.parse(authority.answer(query, Instant.parse("2026-11-22T12:00:00Z")));
        byte[] token =
                assertInstanceOf(TimeAnswer.Granted.class, answer).token().response();
        Files.writeString(anchors.resolve(log.checkpoint().size() + ".note"), SignedNote.sign(text, log.key));
        Files.write(anchors.resolve(log.checkpoint().size() + "-1.tsr"), token);
        Path zip = zip();
        assertEquals(Time.ANCHORED, timeOf(zip, authority));
        assertEquals(Time.HOST_CLOCK, timeOf(zip, other));
        assertEquals(Time.HOST_CLOCK, verify(zip).time());
    }

    private Time timeOf(Path bundle, TestTimeAuthority authority) throws IOException {
        var whom = new AnchorTrust(TrustPolicy.of(List.of()), TimeAuthorities.of(List.of(authority.root())));
        Verification verification = BundleVerifier.verify(bundle, trusted(), whom);
        assertEquals(Integrity.VERIFIED, verification.integrity(), verification::toString);
        return verification.time();
    }

    @Test
    void someoneElsesKeyDoesNotVouchForIt() throws Exception {
        Path zip = zip();
        var verification = BundleVerifier.verify(zip, List.of(TestRun.newKey().verifier()), AnchorTrust.none());
        assertEquals(Integrity.TAMPERED, verification.integrity());
    }

    /// Every octet of small files, some of the others: in a bit, and the file's length.
    @Test
    void anyChangeOfAnyFileIsFound() throws Exception {
        Path unpacked = unpacked();
        int changes = 0;
        for (var file : BundleFolder.files(unpacked).entrySet()) {
            byte[] octets = Files.readAllBytes(file.getValue());
            int step = octets.length <= SMALL_BYTES ? 1 : Math.max(1, octets.length / 20);
            for (int i = random.nextInt(step); i < octets.length; i += step, changes++) {
                byte[] changed = octets.clone();
                changed[i] ^= (byte) (1 << random.nextInt(8));
                Files.write(file.getValue(), changed);
                assertTampered(unpacked, file.getKey() + " octet " + i);
            }
            Files.write(file.getValue(), Arrays.copyOf(octets, octets.length + 1));
            assertTampered(unpacked, file.getKey() + " with an octet more");
            Files.delete(file.getValue());
            assertTampered(unpacked, "without " + file.getKey());
            Files.write(file.getValue(), octets);
        }
        assertTrue(changes > 500, changes + " changes");
        assertTrue(verify(unpacked).holds());
    }

    /// Every octet of the statement, of whatever length.
    @Test
    void anyChangeOfTheStatementIsFound() throws Exception {
        Path unpacked = unpacked();
        Path statement = unpacked.resolve(BundleLayout.STATEMENT);
        byte[] octets = Files.readAllBytes(statement);
        for (int i = 0; i < octets.length; i++) {
            octets[i] ^= (byte) (1 << i % 7);
            Files.write(statement, octets);
            assertTampered(unpacked, "octet " + i);
            octets[i] ^= (byte) (1 << i % 7);
        }
    }

    @Test
    void aFileMoreOrALinkIsFound() throws Exception {
        Path unpacked = unpacked();
        Path more = Files.writeString(unpacked.resolve("log/more"), "");
        assertTampered(unpacked, "a file more");
        Files.delete(more);
        Path readme = unpacked.resolve(BundleLayout.README);
        Path elsewhere = Files.move(readme, folder.resolve("elsewhere"));
        Files.createSymbolicLink(readme, elsewhere);
        assertTampered(unpacked, "a link to the very same file");
    }

    @Test
    void anyChangeOfTheZipIsFound() throws Exception {
        Path zip = zip();
        byte[] octets = Files.readAllBytes(zip);
        int directory = octets.length - 9_000; // the directory, where ZIP's tricks are played
        for (int i = 0; i < octets.length; i += i < directory ? octets.length / 60 : 61) {
            byte[] changed = octets.clone();
            changed[i] ^= (byte) (1 << random.nextInt(8));
            Files.write(zip, changed);
            assertTampered(zip, "octet " + i);
        }
        for (int less : new int[] {1, 22, 100, 5_000}) {
            Files.write(zip, Arrays.copyOf(octets, octets.length - less));
            assertTampered(zip, less + " octets less");
        }
    }

    @Test
    void octetsBesideTheZipAreFound() throws Exception {
        Path zip = zip();
        byte[] octets = Files.readAllBytes(zip);
        var behind = new ByteArrayOutputStream();
        behind.writeBytes(octets);
        behind.writeBytes("more".getBytes(StandardCharsets.US_ASCII));
        Files.write(zip, behind.toByteArray());
        assertTampered(zip, "octets behind");
        var before = new ByteArrayOutputStream();
        before.writeBytes("#!/bin/sh\n".getBytes(StandardCharsets.US_ASCII));
        before.writeBytes(octets);
        Files.write(zip, before.toByteArray());
        assertTampered(zip, "octets before");
    }

    @Test
    void zipsOfOtherFormsAreRefused() throws Exception {
        Path unpacked = unpacked();
        Path zip = folder.resolve("other.zip");
        for (String trick : List.of("compressed", "../outside", "/absolute", "a//b", "comment", "entry comment")) {
            try (var out = new ZipOutputStream(Files.newOutputStream(zip))) {
                for (var file : BundleFolder.files(unpacked).entrySet()) {
                    var entry = new ZipEntry(file.getKey());
                    entry.setComment(trick.equals("entry comment") ? "hello" : null);
                    out.putNextEntry(entry);
                    Files.copy(file.getValue(), out);
                }
                if (trick.contains("/")) {
                    out.putNextEntry(new ZipEntry(trick));
                }
                out.setComment(trick.equals("comment") ? "hello" : null);
            }
            assertTampered(zip, trick);
        }
        assertFalse(Files.exists(folder.resolve("outside")));
        Files.writeString(zip, "no ZIP at all");
        assertTampered(zip, "cannot be read as a ZIP");
    }

    /// One who can sign a statement can still not make up events or their account.
    @Test
    void aTrueStatementDoesNotHideAChangedFile() throws Exception {
        Path unpacked = unpacked();
        for (String name : List.of("completeness.json", "log/checkpoint", dataFile(unpacked))) {
            Path file = unpacked.resolve(name);
            byte[] octets = Files.readAllBytes(file);
            byte[] changed = octets.clone();
            changed[octets.length / 2] ^= 1;
            Files.write(file, changed);
            Path statement = unpacked.resolve(BundleLayout.STATEMENT);
            byte[] signed = Files.readAllBytes(statement);
            Files.write(statement, restated(unpacked, BundleLayout.VERSION));
            assertTampered(unpacked, name);
            Files.write(file, octets);
            Files.write(statement, signed);
        }
    }

    private static String dataFile(Path unpacked) throws Exception {
        return BundleFolder.files(unpacked).keySet().stream()
                .filter(name -> name.endsWith(".parquet"))
                .findFirst()
                .orElseThrow();
    }

    private byte[] restated(Path unpacked, String version) throws Exception {
        var subjects = new TreeMap<String, Hash>();
        for (var file : BundleFolder.files(unpacked).entrySet()) {
            if (!file.getKey().equals(BundleLayout.STATEMENT)) {
                subjects.put(file.getKey(), Hash.sha256(Files.readAllBytes(file.getValue())));
            }
        }
        var statement = new InTotoStatement(
                subjects, InTotoStatement.BUNDLE_V1, BundleLayout.predicate(version, run.run.value()));
        return DsseEnvelope.sign(InTotoStatement.PAYLOAD_TYPE, statement.toJson(), List.of(log.key))
                .toJson();
    }

    @Test
    void anOpenRunIsNotExported() throws Exception {
        try (var _ = run.lock()) {
            Path zip = folder.resolve("open.zip");
            var refused =
                    assertThrows(EvidenceException.class, () -> BundleWriter.write(recordings, run.run, log.key, zip));
            assertTrue(String.valueOf(refused.getMessage()).contains("still being recorded"));
            assertFalse(Files.exists(zip));
        }
    }

    @Test
    void namesLeadNowhereElse() {
        for (String name :
                List.of("", "/a", "a/", "a//b", "..", "../a", "a/..", "a/../b", "a/./b", "a\\b", "ä", "a b")) {
            assertFalse(BundleLayout.isName(name), name);
        }
        for (String name : List.of("a", "a/b.c", "..a", "a..b/c", "run=01/x-y.parquet.seal", "tile/0/x001/234.p/5")) {
            assertTrue(BundleLayout.isName(name), name);
        }
    }

    /// The one ZIP of two small files, octet for octet: a Java runtime that writes another breaks verification.
    @Test
    void theZipIsPinned() throws Exception {
        var files = new TreeMap<String, Path>();
        files.put("b/c.txt", Files.writeString(folder.resolve("c"), "see\n"));
        files.put("a.txt", Files.writeString(folder.resolve("a"), ""));
        var zip = new ByteArrayOutputStream();
        BundleZip.write(files, zip);
        assertEquals(
                "887b12b8690081d5f4c46f22c4132c6f92b627b00901a282c614f220f66ae481",
                Hash.sha256(zip.toByteArray()).toString(),
                zip.size() + " octets");
    }

    /// The end of a ZIP, whose directory of `bytes` octets would lie before it.
    private static ByteBuffer zipEnd(long bytes, long at, int entries) {
        return ByteBuffer.allocate(22)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(0x06054b50)
                .putInt(0)
                .putShort((short) entries)
                .putShort((short) entries)
                .putInt((int) bytes)
                .putInt((int) at)
                .putShort((short) 0)
                .flip();
    }

    private void assertRefused(String why, Path zip) throws IOException {
        var refused = assertThrows(
                MalformedBundleException.class, () -> BundleZip.unpack(zip, Files.createTempDirectory(folder, "into")));
        assertTrue(String.valueOf(refused.getMessage()).contains(why), refused.getMessage());
    }

    /// Java would read it into memory; the file has holes.
    @Test
    void aDirectoryLongerThanThatOfABundleIsNotRead() throws Exception {
        Path zip = folder.resolve("directory.zip");
        long directory = 1L << 30;
        try (FileChannel out = FileChannel.open(zip, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            out.write(zipEnd(directory, 0, 1), directory);
        }
        assertRefused("its directory is longer", zip);
        ByteBuffer end64 = ByteBuffer.allocate(56 + 20).order(ByteOrder.LITTLE_ENDIAN);
        end64.putInt(0x06064b50)
                .putLong(44)
                .putInt(0)
                .putInt(0)
                .putInt(0)
                .putLong(1)
                .putLong(1);
        end64.putLong(directory).putLong(0);
        end64.putInt(0x07064b50).putInt(0).putLong(directory).putInt(1).flip();
        try (FileChannel out = FileChannel.open(zip, StandardOpenOption.WRITE)) {
            out.write(end64, directory);
            out.write(zipEnd(-1, -1, -1), directory + 56 + 20);
        }
        assertRefused("its directory is longer", zip);
    }

    /// Each entry of the directory may lead to the same octets, and would be unpacked as a file of its own.
    @Test
    void filesThatTogetherAreLongerThanTheZipAreNotUnpacked() throws Exception {
        byte[] content = new byte[100_000];
        var one = new ByteArrayOutputStream();
        try (var zip = new ZipOutputStream(one)) {
            var entry = new ZipEntry("file-000");
            entry.setMethod(ZipEntry.STORED);
            entry.setSize(content.length);
            var crc = new CRC32();
            crc.update(content);
            entry.setCrc(crc.getValue());
            zip.putNextEntry(entry);
            zip.write(content);
        }
        byte[] octets = one.toByteArray();
        int directoryAt = ByteBuffer.wrap(octets).order(ByteOrder.LITTLE_ENDIAN).getInt(octets.length - 6);
        byte[] header = Arrays.copyOfRange(octets, directoryAt, octets.length - 22);
        var many = new ByteArrayOutputStream();
        many.write(octets, 0, directoryAt);
        for (int i = 0; i < 100; i++) {
            header[46 + 5] = (byte) ('0' + i / 10);
            header[46 + 6] = (byte) ('0' + i % 10);
            many.writeBytes(header);
        }
        many.writeBytes(zipEnd(100L * header.length, directoryAt, 100).array());
        Path zip = Files.write(folder.resolve("overlapping.zip"), many.toByteArray());
        assertRefused("together are longer than the ZIP", zip);
        try (Stream<Path> unpacked = Files.walk(folder)) {
            long bytes = unpacked.filter(file -> file.getFileName().toString().startsWith("file-"))
                    .mapToLong(file -> file.toFile().length())
                    .sum();
            assertEquals(content.length, bytes);
        }
    }
}
