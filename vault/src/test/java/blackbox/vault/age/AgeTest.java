package blackbox.vault.age;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.vault.age.AgeException.Code;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// Files in the form of age. Two were written by age 1.1.1 (Debian's), so that the form is not ours alone.
class AgeTest {

    private static final String PLAIN = "a run travels\n";

    private static final String THEIR_IDENTITY =
            "AGE-SECRET-KEY-1QGYDH7PD7DE20D3SUTSVXTG5CEN05FE06C4946HMNV3PWA94APMS0HGJ58";
    private static final String THEIR_RECIPIENT = "age1ff6qk4z06qjn72w0f2zgccc0ltg2f407wv34wlzmdw2hv7xmxdkssdukn6";
    private static final String TO_THEIR_RECIPIENT =
            "YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IFgyNTUxOSBBanZnZFcvd002c01OdENaRG5HdnJsbG1MOUxJZG9SckJoa1FaRkMvaDBF"
                    + "CjRSQ1VMbXQ3U3JuVEVzdmREdVNtTEZOakRaaHJLOVdaRzEvM0JVZjkvQ00KLS0tIEZQMjlERTlxcDRPZjJvUk9JMnN0RGY1U0Fh"
                    + "MHdob2tlS2hGaVNxamNLc1EKu3TUBgM4mq/qD8Vj1bcubEsaLDFv0HTf2P6y2wK8eRSgzIaljuz313H12VnrmQ==";
    private static final String TO_THEIR_PASSPHRASE =
            "YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IHNjcnlwdCBwa0pZUmJBa1g2VmtaRmhWZVRHbWNBIDE4CjUvdnZ4SmFtNEtJOWduUmZF"
                    + "dUZRbS9ONTJ5aWxYVi9aQ25Zakx5MXlwd2cKLS0tIEhJL01qWkFkVHpzMC9wMEtNNllXYjZOWmxyZ2RidXFRYlN5emZDTklIRjgK"
                    + "HTR0Q/SjGZi2f5fAZJD/in0/k8Efndhl0xACxXJ4Z8xB/0FY0rvtiAoJnz1pNA==";

    private final SecureRandom random = new SecureRandom();
    private final AgeIdentity identity = AgeIdentity.create(random);

    private static byte[] base64(String text) {
        return Base64.getDecoder().decode(text);
    }

    private byte[] encrypted(byte[] plain, AgeLock... locks) throws IOException {
        var out = new ByteArrayOutputStream();
        var age = new AgeOutput(out, List.of(locks), random);
        age.write(plain);
        age.finish();
        return out.toByteArray();
    }

    private static byte[] opened(byte[] file, AgeUnlock key) throws IOException {
        try (var in = new AgeInput(new ByteArrayInputStream(file), key)) {
            return in.readAllBytes();
        }
    }

    private static Code refused(byte[] file, AgeUnlock key) {
        return assertThrows(AgeException.class, () -> opened(file, key)).code();
    }

    @Test
    void whatAgeWroteOpens() throws Exception {
        AgeIdentity theirs = AgeIdentity.parse(THEIR_IDENTITY);
        assertEquals(THEIR_RECIPIENT, theirs.recipient().toString());
        assertEquals(THEIR_IDENTITY, theirs.text());
        assertEquals(PLAIN, new String(opened(base64(TO_THEIR_RECIPIENT), theirs), StandardCharsets.UTF_8));
        var passphrase = new AgePassphrase("correct horse".getBytes(StandardCharsets.UTF_8));
        assertEquals(PLAIN, new String(opened(base64(TO_THEIR_PASSPHRASE), passphrase), StandardCharsets.UTF_8));
    }

    @Test
    void whatIsEncryptedOpensWithEachOfItsKeysAndNoOther() throws Exception {
        var passphrase = new AgePassphrase(new byte[] {1, 2, 3}, 10);
        for (int length : new int[] {0, 1, 65_535, 65_536, 65_537, 131_072, 200_000}) {
            var plain = new byte[length];
            new Random(length).nextBytes(plain);
            AgeIdentity other = AgeIdentity.create(random);
            byte[] both = encrypted(plain, identity.recipient(), other.recipient());
            assertArrayEquals(plain, opened(both, identity));
            assertArrayEquals(plain, opened(both, other));
            assertEquals(Code.WRONG_KEY, refused(both, AgeIdentity.create(random)));
            assertEquals(Code.WRONG_KEY, refused(both, passphrase));
            byte[] said = encrypted(plain, passphrase);
            assertArrayEquals(plain, opened(said, passphrase));
            assertEquals(Code.WRONG_KEY, refused(said, new AgePassphrase(new byte[] {1, 2, 4}, 10)));
            assertEquals(Code.WRONG_KEY, refused(said, identity));
        }
        assertThrows(IllegalArgumentException.class, () -> encrypted(new byte[0], passphrase, identity.recipient()));
        assertThrows(IllegalArgumentException.class, () -> encrypted(new byte[0]));
    }

    @Test
    void everyOctetCounts() throws Exception {
        byte[] file = encrypted(PLAIN.getBytes(StandardCharsets.UTF_8), identity.recipient());
        for (int at = 0; at < file.length; at++) {
            byte[] changed = file.clone();
            changed[at] ^= 1;
            assertNotEquals(null, refused(changed, identity), "octet " + at);
            byte[] cut = Arrays.copyOf(file, at);
            assertNotEquals(null, refused(cut, identity), "cut at " + at);
        }
        assertNotEquals(null, refused(Arrays.copyOf(file, file.length + 1), identity));
    }

    @Test
    void chunksStayInTheirOrderAndHaveTheirEnd() throws Exception {
        var plain = new byte[3 * AgeOutput.CHUNK_BYTES];
        new Random(5).nextBytes(plain);
        byte[] file = encrypted(plain, identity.recipient());
        int sealed = AgeOutput.CHUNK_BYTES + AgeCrypto.TAG_BYTES;
        int first = file.length - 3 * sealed;
        assertEquals(Code.CUT, refused(Arrays.copyOf(file, first + 2 * sealed), identity));
        assertEquals(Code.CUT, refused(Arrays.copyOf(file, first), identity));
        byte[] swapped = file.clone();
        System.arraycopy(file, first, swapped, first + sealed, sealed);
        System.arraycopy(file, first + sealed, swapped, first, sealed);
        assertEquals(Code.ALTERED, refused(swapped, identity));
        byte[] twice = Arrays.copyOf(file, file.length + sealed);
        System.arraycopy(file, file.length - sealed, twice, file.length, sealed);
        assertEquals(Code.ALTERED, refused(twice, identity));
        var unfinished = new ByteArrayOutputStream();
        new AgeOutput(unfinished, List.of(identity.recipient()), random).write(plain);
        assertEquals(Code.CUT, refused(unfinished.toByteArray(), identity));
    }

    @Test
    void aHeaderThatAsksForTooMuchIsRefused() throws Exception {
        var passphrase = new AgePassphrase(new byte[] {1}, 10);
        String file = new String(encrypted(new byte[3], passphrase), StandardCharsets.ISO_8859_1);
        byte[] dear = file.replaceFirst(" 10\n", " 30\n").getBytes(StandardCharsets.ISO_8859_1);
        assertEquals(Code.MALFORMED, refused(dear, passphrase));
        byte[] endless = ("age-encryption.org/v1\n" + "-> a b\n\n".repeat(40)).getBytes(StandardCharsets.US_ASCII);
        assertEquals(Code.MALFORMED, refused(endless, identity));
        var line = new byte[100_000];
        Arrays.fill(line, (byte) 'x');
        assertEquals(Code.MALFORMED, refused(line, identity));
    }

    @Test
    void aPointThatKeepsNothingSecretIsRefused() {
        var zero = new AgeRecipient(new byte[AgeCrypto.KEY_BYTES]);
        assertThrows(IllegalArgumentException.class, () -> encrypted(new byte[1], zero));
    }

    @Test
    void keysAreReadStrictly() {
        String key = identity.recipient().toString();
        assertEquals(identity.recipient(), AgeRecipient.parse(key));
        for (int at = 0; at < key.length(); at++) {
            char other = key.charAt(at) == 'q' ? 'p' : 'q';
            String changed = key.substring(0, at) + other + key.substring(at + 1);
            assertThrows(IllegalArgumentException.class, () -> AgeRecipient.parse(changed));
        }
        assertThrows(IllegalArgumentException.class, () -> AgeRecipient.parse(identity.text()));
        var failure = assertThrows(IllegalArgumentException.class, () -> AgeIdentity.parse(identity.text() + "q"));
        assertFalse(String.valueOf(failure.getMessage()).contains(identity.text()));
        assertTrue(identity.toString().startsWith("the identity of age1"));
    }
}
