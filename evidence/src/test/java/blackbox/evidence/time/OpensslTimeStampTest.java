package blackbox.evidence.time;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import blackbox.schemas.Hash;
import blackbox.schemas.Seeded;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// OpenSSL reads what is kept here, and made a stamp that is read here.
class OpensslTimeStampTest {

    /// Made once by `openssl ts -reply` (3.0.19) over a checkpoint's text, with a root and a certificate of its own.
    @Test
    void aStampThatOpensslMadeIsBelieved() throws Exception {
        TimeAuthorities trusted = TimeAuthorities.of(TimeAuthorities.certificates(resource("openssl-root.pem")));
        byte[] kept = resource("openssl.tsr");
        byte[] text = resource("openssl.txt");
        TimeVerdict verdict = verdict(trusted, kept, text);
        TimeVerdict expected = new TimeVerdict.Stamped(
                Instant.parse("2026-11-22T02:43:17.867Z"),
                Duration.ofMillis(1500),
                "CN=Golden Time Stamps",
                BigInteger.valueOf(3),
                "1.3.6.1.4.1.32473.2");
        assertEquals(expected, verdict);
        // Its one certificate is the signer's, so every octet counts here too.
        for (int i = 0; i < kept.length; i++) {
            kept[i] ^= (byte) (1 << i % 8);
            assertTrue(!expected.equals(verdict(trusted, kept, text)), "octet " + i);
            kept[i] ^= (byte) (1 << i % 8);
        }
    }

    private static TimeVerdict verdict(TimeAuthorities trusted, byte[] kept, byte[] text) {
        try {
            return trusted.verify(TimeToken.ofResponse(kept), Hash.sha256(text));
        } catch (MalformedTimeStampException e) {
            return new TimeVerdict.Refused(String.valueOf(e.getMessage()));
        }
    }

    @Test
    void opensslBelievesAStampThatIsKept(@TempDir Path folder) throws Exception {
        TestTimeAuthority authority = TestTimeAuthority.create(TestTimeAuthority.Algorithm.RSA);
        byte[] data = "a checkpoint's text\n".getBytes(StandardCharsets.UTF_8);
        TimeQuery query = TimeQuery.create(Hash.sha256(data), Seeded.random("openssl"));
        byte[] answer = authority.answer(query.encoded(), Instant.parse("2026-11-22T03:04:05Z"));
        TimeToken token = assertInstanceOf(TimeAnswer.Granted.class, TimeAnswer.parse(answer))
                .token();
        Files.write(folder.resolve("data"), data);
        Files.write(folder.resolve("other"), new byte[0]);
        Files.write(folder.resolve("stamp.tsr"), token.response());
        Files.write(folder.resolve("query.tsq"), query.encoded());
        Files.writeString(folder.resolve("root.pem"), authority.rootPem());
        assumeOpenssl();
        String verify = "openssl ts -verify -in stamp.tsr -CAfile root.pem ";
        assertEquals(0, run(folder, verify + "-data data"));
        assertEquals(0, run(folder, verify + "-queryfile query.tsq"));
        assertTrue(run(folder, verify + "-data other") != 0);
    }

    private static void assumeOpenssl() throws Exception {
        boolean there = run(Path.of("."), "openssl version") == 0;
        if (!there) {
            System.out.println("skipped: there is no openssl to compare with; install the package openssl");
        }
        assumeTrue(there, "no openssl");
    }

    private static int run(Path folder, String command) throws Exception {
        return new ProcessBuilder(List.of("sh", "-c", command))
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor();
    }

    private static byte[] resource(String name) throws IOException {
        try (InputStream in = OpensslTimeStampTest.class.getResourceAsStream(name)) {
            assertTrue(in != null, name);
            return in.readAllBytes();
        }
    }
}
