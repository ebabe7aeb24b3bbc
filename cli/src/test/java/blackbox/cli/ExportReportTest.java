package blackbox.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.cli.exit.ExitCodes;
import blackbox.recorder.keys.KeyFile;
import blackbox.recorder.seal.RunSealer;
import blackbox.recorder.spool.Spool;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.row.Text;
import blackbox.vm.Command;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.bouncycastle.asn1.pkcs.PKCSObjectIdentifiers;
import org.bouncycastle.cms.CMSSignedData;
import org.bouncycastle.cms.SignerInformation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `export --format pdf`, held against poppler and OpenSSL.
class ExportReportTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Instant START = Instant.parse("2026-11-21T09:00:00Z");
    private static final long START_NS = START.getEpochSecond() * 1_000_000_000L;
    private static final int FLIPS = 40;

    /// As the PDF's signature names the octets that it covers.
    private static final Pattern RANGE = Pattern.compile("/ByteRange \\[0 (\\d+) (\\d+) (\\d+)\\s*]");

    @TempDir
    Path folder;

    private final RunId run = RunId.create(START, new Random(7));

    private Path record(String name, Event... more) throws Exception {
        Path data = folder.resolve("data");
        var key = KeyFile.loadOrCreate(data.resolve("keys"), "recorder");
        var sealer = new RunSealer(run, key, Spool.create(data.resolve("spool"), run), InstantSource.fixed(START));
        sealer.append(new Event.RunOpen(EventHeader.host(START_NS), Text.of(name), "{\"tier\":\"live\"}"));
        for (Event each : more) {
            sealer.append(each);
        }
        sealer.seal();
        try (Stream<Path> files = Files.walk(data.resolve("spool"))) {
            return files.filter(Files::isRegularFile).findFirst().orElseThrow();
        }
    }

    private static Event closed(long events) {
        return new Event.RunClose(EventHeader.host(START_NS + 10), events, 0, 0, null, null);
    }

    private Ran blackbox(String command, String... options) {
        var words = new ArrayList<>(
                List.of(command, run.value(), "--data", folder.resolve("data").toString()));
        words.addAll(List.of(options));
        return Ran.of(words.toArray(String[]::new));
    }

    private Path report() {
        return folder.resolve("report.pdf");
    }

    private JsonNode exported(String... options) throws Exception {
        var all = new ArrayList<>(List.of("--format", "pdf", "--json", "--out", report().toString()));
        all.addAll(List.of(options));
        Ran ran = blackbox("export", all.toArray(String[]::new));
        assertEquals(ExitCodes.OK, ran.exitCode(), ran.err());
        return JSON.readTree(ran.out());
    }

    private String run(String... command) throws Exception {
        Command.Outcome ended = Command.of(command).in(folder).attempt();
        assertEquals(0, ended.exit(), ended::errors);
        return ended.output();
    }

    private static String collapsed(String text) {
        return text.replaceAll("\\s+", " ");
    }

    @Test
    void othersReadAndCheckIt() throws Exception {
        // In its place it would look like the report's own lines.
        String padding = " ".repeat(70);
        record("night \u202ely 夜 e\u0301 ‹591c›\n" + padding + "Findings" + padding + "Integrity VERIFIED", closed(1));
        JsonNode said = exported();
        assertEquals("PAdES-B-B", said.path("level").asText());
        assertTrue(said.path("stampedAt").isNull());
        assertEquals(Files.size(report()), said.path("bytes").asLong());
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(report())));
        String checked = run("pdfsig", "report.pdf");
        assertTrue(checked.contains("Signature is Valid."), checked);
        assertTrue(checked.contains("Signature Type: ETSI.CAdES.detached"), checked);
        assertTrue(checked.contains("Total document signed"), checked);
        String fingerprint = said.path("certificate").asText();
        String openssl = run("openssl", "x509", "-in", "data/keys/report.crt", "-noout", "-fingerprint", "-sha256");
        assertTrue(openssl.contains(fingerprint), openssl);
        String text = run("pdftotext", "-layout", "report.pdf", "-");
        assertTrue(collapsed(text).contains("night ‹202e›ly ‹591c› e‹301› ‹2039›591c‹203a›‹a› ‹20›"), text);
        for (String heading : List.of("Findings", "Integrity")) {
            assertEquals(
                    1,
                    text.lines()
                            .filter(line -> line.stripLeading().startsWith(heading))
                            .count(),
                    text);
        }
        assertTrue(text.replaceAll("\\s+", "").contains(fingerprint), text);
        assertTrue(collapsed(text).contains("no authority stamped it"), text);
        assertTrue(text.contains("What may not have been seen"), text);
        assertTrue(text.contains("never, as far as is known"), "replayed");
        run("pdfdetach", "-saveall", "report.pdf");
        assertEquals(JSON.readTree(blackbox("touched", "--json").out()), file("touched.json"));
        JsonNode verified = JSON.readTree(blackbox("verify", "--json").out());
        assertEquals(verified.path("integrity"), file("verify.json").path("integrity"));
        assertEquals(verified.path("findings"), file("verify.json").path("findings"));
        assertEquals(run.value(), file("controls.json").path("run").asText());
        ObjectNode shown = (ObjectNode) JSON.readTree(blackbox("show", "--json").out());
        assertEquals(shown.without(List.of("verification", "replays")), file("run.json"));
        Ran again = blackbox("export", "--format", "pdf", "--out", report().toString());
        assertEquals(ExitCodes.BAD_INPUT, again.exitCode());
    }

    private JsonNode file(String name) throws Exception {
        return JSON.readTree(folder.resolve(name).toFile());
    }

    @Test
    void whoeverChangesAnOctetIsFoundOut() throws Exception {
        record("first", closed(1));
        exported();
        byte[] octets = Files.readAllBytes(report());
        long[] range = range(octets);
        var random = new Random(99);
        for (int i = 0; i < FLIPS; i++) {
            byte[] changed = octets.clone();
            int place = (int) random.nextLong(range[0] + range[2]);
            place = place < range[0] ? place : (int) (range[1] + place - range[0]);
            changed[place] ^= (byte) (1 << random.nextInt(8));
            Files.write(folder.resolve("changed.pdf"), changed);
            Command.Outcome checked =
                    Command.of("pdfsig", "changed.pdf").in(folder).attempt();
            int at = place;
            assertFalse(checked.output().contains("Signature is Valid."), () -> "octet " + at + checked.output());
        }
    }

    /// What is added is not signed, which poppler says, and is not allowed, which readers that know of it say.
    @Test
    void whatIsAddedIsNotSigned() throws Exception {
        record("first", closed(1));
        exported();
        String pdf = Files.readString(report(), StandardCharsets.ISO_8859_1);
        assertTrue(pdf.contains("/DocMDP"), "certified");
        Files.writeString(report(), "9 0 obj\n<</Type /Page>>\nendobj\n", StandardOpenOption.APPEND);
        assertFalse(run("pdfsig", "report.pdf").contains("Total document signed"));
    }

    @Test
    void whatDoesNotHoldIsNotSaidToHold() throws Exception {
        Path sealed = record("first", closed(1));
        byte[] octets = Files.readAllBytes(sealed);
        octets[octets.length / 2] ^= 1;
        Files.write(sealed, octets);
        JsonNode said = exported();
        assertEquals("TAMPERED", said.path("integrity").asText());
        assertFalse(said.path("limits").isEmpty());
        String text = collapsed(run("pdftotext", "report.pdf", "-"));
        assertTrue(text.contains("TAMPERED: what is stored is not what was sealed"), text);
        assertTrue(text.contains("what this report tells of the run may be false"), text);
        assertTrue(text.contains("none in what could be read"), text);
        assertFalse(text.contains("none recorded"), text);
        assertTrue(text.contains("Would show, if it held"), text);
        run("pdfdetach", "-saveall", "report.pdf");
        for (JsonNode each : file("controls.json").path("controls")) {
            assertFalse(each.path("exitCode").isInt() && each.path("exitCode").asInt() == 0, each::toString);
        }
    }

    @Test
    void whatIsNotClosedIsSaidToBeOpen() throws Exception {
        record("first");
        JsonNode said = exported();
        String state = said.path("completeness").asText();
        assertTrue(List.of("OPEN", "TRUNCATED").contains(state), state);
        assertTrue(run("pdftotext", "report.pdf", "-").contains(state));
    }

    @Test
    void aLongNameDoesNotPushTheVerdictsAway() throws Exception {
        record("word".repeat(5_000), closed(1));
        JsonNode said = exported();
        assertTrue(said.path("pages").asInt() < 8, said::toString);
        String text = run("pdftotext", "-l", "1", "report.pdf", "-");
        assertTrue(text.contains("more characters") && text.contains("How to check this"), text);
    }

    /// The end of the first part that is signed, the beginning of the second, and its length.
    private static long[] range(byte[] pdf) {
        Matcher range = RANGE.matcher(new String(pdf, StandardCharsets.ISO_8859_1));
        assertTrue(range.find());
        return new long[] {
            Long.parseLong(range.group(1)), Long.parseLong(range.group(2)), Long.parseLong(range.group(3))
        };
    }

    @Test
    void anAuthorityStampsIt() throws Exception {
        record("first", closed(1));
        String address;
        try (var server = new TimeStampServer(Instant.parse("2026-11-22T03:00:00Z"))) {
            server.trustIn(folder.resolve("data"));
            address = server.address();
            JsonNode said = exported("--tsa", "http://127.0.0.1:1/none", "--tsa", address);
            assertEquals("PAdES-B-T", said.path("level").asText());
            assertEquals(
                    "2026-11-22T03:00:00.000000000Z", said.path("stampedAt").asText());
            assertEquals("CN=Test Time Stamps", said.path("stampedBy").asText());
        }
        assertTrue(run("pdfsig", "report.pdf").contains("Signature is Valid."));
        opensslAgrees(Files.readAllBytes(report()));
        // Nobody answers any more.
        Files.delete(report());
        Ran ran = blackbox("export", "--format", "pdf", "--out", report().toString(), "--tsa", address);
        assertEquals(ExitCodes.FAILED, ran.exitCode());
        assertTrue(ran.err().contains("--no-time-stamp"), ran.err());
        assertFalse(Files.exists(report()));
        Files.writeString(folder.resolve("data/keys/anchors.conf"), "tsa " + address + "\n");
        assertEquals(
                ExitCodes.FAILED,
                blackbox("export", "--format", "pdf", "--out", report().toString())
                        .exitCode());
        assertEquals("PAdES-B-B", exported("--no-time-stamp").path("level").asText());
    }

    private void opensslAgrees(byte[] pdf) throws Exception {
        long[] range = range(pdf);
        var content = new ByteArrayOutputStream();
        content.write(pdf, 0, (int) range[0]);
        content.write(pdf, (int) range[1], (int) range[2]);
        Files.write(folder.resolve("content"), content.toByteArray());
        String hex = new String(pdf, (int) range[0] + 1, (int) (range[1] - range[0]) - 2, StandardCharsets.ISO_8859_1);
        // What follows is room that was not needed.
        var signed = new CMSSignedData(new ByteArrayInputStream(HexFormat.of().parseHex(hex)));
        Files.write(folder.resolve("signature"), signed.getEncoded());
        run(
                "openssl",
                "cms",
                "-verify",
                "-binary",
                "-cades",
                "-inform",
                "DER",
                "-in",
                "signature",
                "-content",
                "content",
                "-CAfile",
                "data/keys/report.crt",
                "-purpose",
                "any",
                "-out",
                "verified");
        SignerInformation signer =
                signed.getSignerInfos().getSigners().iterator().next();
        Files.write(
                folder.resolve("token"),
                signer.getUnsignedAttributes()
                        .get(PKCSObjectIdentifiers.id_aa_signatureTimeStampToken)
                        .getAttributeValues()[0]
                        .toASN1Primitive()
                        .getEncoded());
        String digest = Hash.sha256(signer.getSignature()).toString();
        run(
                "openssl",
                "ts",
                "-verify",
                "-digest",
                digest,
                "-token_in",
                "-in",
                "token",
                "-CAfile",
                "data/keys/time/root.pem");
    }

    @Test
    void itIsSignedForTheCertificateThatIsNamed() throws Exception {
        record("first", closed(1));
        certificate("seal", "EC", "-pkeyopt", "ec_paramgen_curve:P-384");
        certificate("old", "RSA");
        certificate("larger", "EC", "-pkeyopt", "ec_paramgen_curve:P-521");
        certificate("new", "ED25519");
        certificate("odd", "RSA-PSS");
        for (String each : List.of("seal", "old", "larger")) {
            JsonNode said = exported(signer(each));
            assertEquals("CN=Example " + each, said.path("signer").asText());
            String checked = run("pdfsig", "report.pdf");
            assertTrue(checked.contains("Signature is Valid."), checked);
            assertTrue(checked.contains("Common Name: Example " + each), checked);
            Files.delete(report());
        }
        assertFalse(Files.exists(folder.resolve("data/keys/report.key")), "none was needed");
        for (String each : List.of("new", "odd")) {
            var words = new ArrayList<>(List.of("--format", "pdf", "--out", report().toString()));
            words.addAll(List.of(signer(each)));
            Ran ran = blackbox("export", words.toArray(String[]::new));
            assertEquals(ExitCodes.BAD_INPUT, ran.exitCode());
            assertTrue(ran.err().contains("RSA or ECDSA"), ran.err());
            assertFalse(Files.exists(report()));
        }
    }

    private void certificate(String name, String... kind) throws Exception {
        var words = new ArrayList<>(List.of("openssl", "genpkey", "-out", name + ".key", "-algorithm"));
        words.addAll(List.of(kind));
        run(words.toArray(String[]::new));
        Files.setPosixFilePermissions(folder.resolve(name + ".key"), PosixFilePermissions.fromString("rw-------"));
        run(
                "openssl",
                "req",
                "-new",
                "-x509",
                "-key",
                name + ".key",
                "-subj",
                "/CN=Example " + name,
                "-days",
                "2",
                "-out",
                name + ".crt");
    }

    private String[] signer(String name) {
        return new String[] {
            "--signer-cert",
            folder.resolve(name + ".crt").toString(),
            "--signer-key",
            folder.resolve(name + ".key").toString()
        };
    }

    @Test
    void optionsThatMeanNothingAreRefused() throws Exception {
        record("first", closed(1));
        for (List<String> each : List.of(
                List.of("--format", "json", "--no-time-stamp"),
                List.of("--format", "csv", "--tsa", "http://127.0.0.1:1/"),
                List.of("--format", "pdf", "--tsa", "tsa.example"),
                List.of(
                        "--format",
                        "pdf",
                        "--out",
                        folder.resolve("none/report.pdf").toString()),
                List.of("--format", "pdf", "--signer-cert", "seal.crt"),
                List.of("--format", "pdf", "--no-time-stamp", "--tsa", "http://127.0.0.1:1/"),
                List.of("--format", "pdf", "--signer-cert", "none.crt", "--signer-key", "none.key"))) {
            assertEquals(
                    ExitCodes.BAD_INPUT,
                    blackbox("export", each.toArray(String[]::new)).exitCode(),
                    each::toString);
        }
        assertFalse(Files.exists(folder.resolve("data/keys/report.key")), "made before it was needed");
    }
}
