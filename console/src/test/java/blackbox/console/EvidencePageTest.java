package blackbox.console;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EvidencePageTest {
    /// What a page may weigh as a browser fetches it.
    private static final int GZIP_BYTES_MAX = 150 << 10;

    @TempDir
    private Path folder;

    @Test
    void theCommittedPagesAreWhatTheirSourcesMake() throws Exception {
        Npm.install();
        Npm.run("node_modules/.bin/tsc");
        Npm.run("node", "build.mjs", folder.toString());
        for (String name : List.of(EvidencePage.NAME, ConsolePage.NAME)) {
            assertArrayEquals(
                    Files.readAllBytes(folder.resolve(name)),
                    EvidencePage.resource(name),
                    "run `npm ci && npm run build` in console/ and commit what that changes");
        }
    }

    /// The page computes leaves by numbers and names of its own, which must be those of the code that writes them.
    @Test
    void thePageKnowsTheColumnsAndKindsOfThisVersion() throws Exception {
        Path bundle = Files.createDirectory(folder.resolve("bundle"));
        new Bundles(folder.resolve("data")).writeTo(bundle);
        for (String name : List.of("columns.json", "kinds.json", "sources.json")) {
            assertEquals(
                    Files.readString(bundle.resolve("formats").resolve(name)),
                    Files.readString(Npm.MODULE.resolve("src/main/ts/formats").resolve(name)),
                    name);
        }
    }

    @Test
    void aPageCarriesTheBundlesOctets() throws Exception {
        byte[] octets = "not a multiple of three".getBytes(StandardCharsets.UTF_8);
        var out = new ByteArrayOutputStream();
        EvidencePage.write(new ByteArrayInputStream(octets), out);
        String page = out.toString(StandardCharsets.UTF_8);
        String blank = new String(EvidencePage.blank(), StandardCharsets.UTF_8);
        String base64 = Base64.getEncoder().encodeToString(octets);
        assertEquals(blank.length() + base64.length(), page.length());
        assertTrue(page.contains(">" + base64 + "</script>"));
    }

    @Test
    void aPageIsSmall() throws Exception {
        for (byte[] page : List.of(EvidencePage.blank(), ConsolePage.octets())) {
            var octets = new ByteArrayOutputStream();
            try (var gzip = new GZIPOutputStream(octets)) {
                gzip.write(page);
            }
            assertTrue(octets.size() <= GZIP_BYTES_MAX, octets.size() + " octets");
        }
    }
}
