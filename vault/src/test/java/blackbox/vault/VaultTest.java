package blackbox.vault;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.files.ProcessLock;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.CaptureName;
import blackbox.schemas.folder.DataFolder;
import blackbox.vault.VaultException.Code;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A data folder's payloads: from plain to encrypted, to shredded.
class VaultTest {
    private static final RunId RUN = new RunId("01jd8x3k9zq4v7w2m5n6p8r0st");
    private static final RunId OTHER = new RunId("01jd8x3k9zq4v7w2m5n6p8r0sv");
    private static final String SECRET = "sk-live-4f9c1b77";
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final Instant AT = Instant.parse("2026-11-24T20:00:00Z");

    @TempDir
    Path root;

    private final PayloadKey key = PayloadKey.create(RANDOM);
    private DataFolder data;
    private Vault vault;

    @BeforeEach
    void make() throws Exception {
        data = new DataFolder(root);
        vault = new Vault(data, new TestKeys(key), RANDOM);
        for (RunId run : List.of(RUN, OTHER)) {
            Files.createDirectories(data.captures(run));
            for (CaptureName name : CaptureName.values()) {
                Files.writeString(name.in(data.captures(run)), text(run, name));
            }
        }
    }

    private static String text(RunId run, CaptureName name) {
        return SECRET + " in " + name.text() + " of " + run;
    }

    private String read(Vault from, RunId run, String name) throws IOException {
        try (InputStream in = from.stream(run, name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private Code fails(Vault from, RunId run, String name) {
        return assertThrows(VaultException.class, () -> read(from, run, name)).code();
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> all = Files.walk(root)) {
            return all.filter(Files::isRegularFile).toList();
        }
    }

    @Test
    void whatMayBeSecretIsEncryptedAndReadsAsBefore() throws Exception {
        for (CaptureName name : CaptureName.values()) {
            assertEquals(text(RUN, name), read(vault, RUN, name.text()));
        }
        assertTrue(vault.encrypt(RUN, _ -> {}) > 0);
        assertEquals(List.of(), vault.unencrypted(RUN));
        for (CaptureName name : CaptureName.values()) {
            assertEquals(text(RUN, name), read(vault, RUN, name.text()));
            boolean plain = Files.exists(name.in(data.captures(RUN)));
            assertEquals(!CaptureName.SECRET.contains(name), plain, name.text());
            assertTrue(vault.exists(RUN, name.text()));
            assertEquals(text(RUN, name).length(), vault.size(RUN, name.text()));
        }
        Set<String> harmless = CaptureName.texts(EnumSet.complementOf(EnumSet.copyOf(CaptureName.SECRET)));
        for (Path file : files()) {
            boolean may = file.startsWith(data.captures(OTHER))
                    || harmless.contains(file.getFileName().toString());
            assertEquals(
                    may, Files.readString(file, StandardCharsets.ISO_8859_1).contains(SECRET), file::toString);
            if (file.toString().endsWith(".enc") || file.toString().endsWith(".key")) {
                assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
            }
        }
        assertEquals(0, vault.encrypt(RUN, _ -> {}), "once more finds nothing");
    }

    @Test
    void theRunsKeyIsNotInItsFile() throws Exception {
        vault.encrypt(RUN, _ -> {});
        byte[] wrapped = Files.readAllBytes(data.runKeys().resolve(RUN + ".key"));
        byte[] opened = new RunKeys(data.runKeys(), new TestKeys(key), RANDOM)
                .existing(RUN)
                .octets();
        String text = new String(wrapped, StandardCharsets.ISO_8859_1);
        assertFalse(text.contains(new String(opened, StandardCharsets.ISO_8859_1)));
        assertFalse(text.contains(new String(key.octets(), StandardCharsets.ISO_8859_1)));
    }

    @Test
    void capturesWithoutKeysGiveNothing() throws Exception {
        vault.encrypt(RUN, _ -> {});
        var stranger = new Vault(data, new TestKeys(PayloadKey.create(RANDOM)), RANDOM);
        assertEquals(Code.WRONG_KEY, fails(stranger, RUN, "rr"));
        var without = new Vault(data, new TestKeys(null), RANDOM);
        assertEquals(Code.NO_KEY, fails(without, RUN, "rr"));
        Files.delete(data.runKeys().resolve(RUN + ".key"));
        assertEquals(Code.NO_KEY, fails(vault, RUN, "rr"));
    }

    @Test
    void theFilesAndKeysOfTwoRunsCannotBeSwapped() throws Exception {
        vault.encrypt(RUN, _ -> {});
        vault.encrypt(OTHER, _ -> {});
        Path mine = data.captures(RUN).resolve("rr.enc");
        byte[] own = Files.readAllBytes(mine);
        Files.write(mine, Files.readAllBytes(data.captures(OTHER).resolve("rr.enc")));
        assertEquals(Code.CUT, fails(vault, RUN, "rr"), "its one segment is its last");
        Files.write(mine, Files.readAllBytes(data.captures(RUN).resolve("events.enc")));
        assertEquals(Code.CUT, fails(vault, RUN, "rr"));
        Files.write(mine, own);
        Path keyFile = data.runKeys().resolve(RUN + ".key");
        Files.write(keyFile, Files.readAllBytes(data.runKeys().resolve(OTHER + ".key")));
        assertEquals(Code.WRONG_KEY, fails(vault, RUN, "rr"));
    }

    /// Whatever a recorder that was killed while it encrypted leaves: another goes on from there.
    @Test
    void aCrashWhileEncryptingLosesNothing() throws Exception {
        Path plain = CaptureName.LOG.in(data.captures(RUN));
        byte[] octets = Files.readAllBytes(plain);
        Path half = Files.writeString(plain.resolveSibling(".rr.enc.new"), "half of it");
        assertEquals(text(RUN, CaptureName.LOG), read(vault, RUN, "rr"));
        vault.encrypt(RUN, _ -> {});
        assertFalse(Files.exists(half));
        assertEquals(text(RUN, CaptureName.LOG), read(vault, RUN, "rr"));

        Files.write(plain, octets); // killed after the rename, before the plain file was deleted
        assertEquals(List.of("rr"), vault.unencrypted(RUN));
        vault.encrypt(RUN, _ -> {});
        assertEquals(List.of(), vault.unencrypted(RUN));
        assertEquals(text(RUN, CaptureName.LOG), read(vault, RUN, "rr"));

        Files.writeString(plain, "planted beside an encrypted file, which is what is read");
        assertEquals(text(RUN, CaptureName.LOG), read(vault, RUN, "rr"));
    }

    @Test
    void aReaderNeverSeesAFileMissingWhileItIsEncrypted() throws Exception {
        var done = new AtomicBoolean();
        Callable<Integer> reading = () -> {
            int reads = 0;
            while (!done.get()) {
                assertEquals(text(RUN, CaptureName.LOG), read(vault, RUN, "rr"));
                reads++;
            }
            return reads;
        };
        var tasks = new ArrayList<FutureTask<Integer>>();
        for (int i = 0; i < 4; i++) {
            var task = new FutureTask<>(reading);
            tasks.add(task);
            Thread.ofPlatform().daemon().start(task);
        }
        Path plain = CaptureName.LOG.in(data.captures(RUN));
        for (int i = 0; i < 100; i++) {
            vault.encrypt(RUN, _ -> {});
            Files.writeString(plain.resolveSibling("again"), text(RUN, CaptureName.LOG));
            Files.move(plain.resolveSibling("again"), plain);
        }
        done.set(true);
        for (FutureTask<Integer> task : tasks) {
            assertTrue(task.get() > 0);
        }
    }

    @Test
    void shreddingLeavesAMarkAndNothingElse() throws Exception {
        vault.encrypt(RUN, _ -> {});
        vault.encrypt(OTHER, _ -> {});
        Path backup = Files.createDirectory(root.resolve("backup"));
        for (String name : List.of("rr.enc", "stdin.enc")) {
            Files.copy(data.captures(RUN).resolve(name), backup.resolve(name));
        }
        Vault.Shredded done = vault.shred(new ShredMark(RUN, AT, "the customer asked for it"));
        assertEquals(CaptureName.values().length, done.files().size());
        assertFalse(Files.exists(data.runKeys().resolve(RUN + ".key")));
        assertEquals(Code.SHREDDED, fails(vault, RUN, "rr"));
        // Whoever brings the encrypted files back has no key for them.
        Files.copy(backup.resolve("rr.enc"), data.captures(RUN).resolve("rr.enc"));
        assertEquals(Code.SHREDDED, fails(vault, RUN, "rr"));
        Files.delete(data.captures(RUN).resolve("rr.enc"));
        ShredMark mark = vault.shredded(RUN);
        assertNotNull(mark);
        assertTrue(mark.text().contains("the customer asked for it"), mark::text);
        assertEquals(text(OTHER, CaptureName.LOG), read(vault, OTHER, "rr"));
        assertNull(vault.shredded(OTHER));

        // Again, with another reason: the first stays.
        assertEquals(
                AT,
                vault.shred(new ShredMark(RUN, AT.plusSeconds(9), "other"))
                        .mark()
                        .at());
        assertThrows(VaultException.class, () -> vault.encrypt(RUN, _ -> {}));
    }

    /// Killed between any two of its steps: it counts as shredded, and goes on when it is asked again.
    @Test
    void anInterruptedShreddingIsOne() throws Exception {
        vault.encrypt(RUN, _ -> {});
        new ShredMark(RUN, AT, "because").write(data.captures(RUN));
        assertNotNull(vault.shredded(RUN));
        assertThrows(VaultException.class, () -> vault.encrypt(RUN, _ -> {}));
        Path keyFile = data.runKeys().resolve(RUN + ".key");
        Files.write(keyFile, new byte[(int) Files.size(keyFile)]);
        assertEquals(Code.SHREDDED, fails(vault, RUN, "rr"));
        vault.shred(new ShredMark(RUN, AT, "because"));
        try (Stream<Path> left = Files.list(data.captures(RUN))) {
            assertEquals(
                    List.of(ShredMark.NAME),
                    left.map(file -> file.getFileName().toString()).toList());
        }
    }

    @Test
    void aMarkIsOneLineOfText() {
        for (String reason : List.of("", "  ", "two\nlines", "a\u001bcontrol", "x".repeat(501))) {
            assertThrows(IllegalArgumentException.class, () -> new ShredMark(RUN, AT, reason), reason);
        }
    }

    @Test
    void aDamagedMarkIsNotOverlooked() throws Exception {
        Files.writeString(data.captures(RUN).resolve(ShredMark.NAME), "something else\n");
        assertThrows(IOException.class, () -> vault.shredded(RUN));
    }

    @Test
    void whatIsNotThereIsNotThere() {
        assertThrows(NoSuchFileException.class, () -> vault.stream(RUN, "nothing"));
        assertFalse(vault.exists(RUN, "nothing"));
    }

    @Test
    void markAndKeyOfVersionOneAreRead() throws Exception {
        for (String name : List.of("shredded", "run.key")) {
            try (InputStream in = getClass().getResourceAsStream("/payload/v1/" + name)) {
                assertNotNull(in);
                Path target = name.equals("run.key")
                        ? Files.createDirectories(data.runKeys()).resolve(RUN + ".key")
                        : data.captures(RUN).resolve(name);
                Files.write(target, in.readAllBytes());
            }
        }
        assertEquals(new ShredMark(RUN, AT, "the customer asked for it"), vault.shredded(RUN));
        var wrapping = new byte[PayloadKey.BYTES];
        java.util.Arrays.fill(wrapping, (byte) 7);
        var opened = new RunKeys(data.runKeys(), new TestKeys(PayloadKey.of(wrapping)), RANDOM).existing(RUN);
        var expected = new byte[PayloadKey.BYTES];
        for (int i = 0; i < expected.length; i++) {
            expected[i] = (byte) i;
        }
        assertArrayEquals(expected, opened.octets());
    }

    /// The folder's key is on a stick that is not plugged in: another one must not take its place.
    @Test
    void aKeyThatIsOnlyNotHereIsNotReplaced() throws Exception {
        long unused = vault.encrypt(RUN, _ -> {});
        var made = new AtomicBoolean();
        var elsewhere = new PayloadKey.Source() {
            @Override
            public PayloadKey existing() throws IOException {
                throw new VaultException(Code.NO_KEY, "not plugged in");
            }

            @Override
            public PayloadKey existingOrNew() {
                made.set(true);
                return PayloadKey.create(RANDOM);
            }
        };
        var without = new Vault(data, elsewhere, RANDOM);
        assertEquals(
                Code.NO_KEY,
                assertThrows(VaultException.class, without::prepare).code());
        assertEquals(
                Code.NO_KEY,
                assertThrows(VaultException.class, () -> without.encrypt(OTHER, _ -> {}))
                        .code());
        assertFalse(made.get());
    }

    /// In whichever process: somebody who encrypts would make a key again that shredding has just destroyed.
    @Test
    void whoShredsWaitsForWhoEncrypts() throws Exception {
        var shredding = new FutureTask<>(() -> vault.shred(new ShredMark(RUN, AT, "asked for")));
        Thread thread;
        Files.createDirectories(data.runs(RUN));
        try (ProcessLock _ = ProcessLock.take(data.runs(RUN).resolve("payloads.lock"))) {
            thread = Thread.ofPlatform().start(shredding);
            assertFalse(thread.join(Duration.ofMillis(300)));
            assertNull(vault.shredded(RUN));
        }
        assertNotNull(shredding.get());
        assertEquals(
                Code.SHREDDED,
                assertThrows(VaultException.class, () -> vault.encrypt(RUN, _ -> {}))
                        .code());
    }
}
