package blackbox.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The page in Debian's Chromium, from a file and with the network off.
class BrowserTest {
    private static final int FLIPS = 40;
    private static final long SEED = 17;
    /// What the build keeps of how the page looks.
    private static final Path PICTURES = Path.of("target/pictures").toAbsolutePath();

    @TempDir
    private Path folder;

    private Bundles bundles;

    @BeforeEach
    void record() throws Exception {
        bundles = new Bundles(folder.resolve("data"));
    }

    /// The page with the run's bundle in it.
    private Path page() throws Exception {
        Path zip = bundles.writeTo(folder.resolve("run.zip"));
        Path page = folder.resolve("run.html");
        try (InputStream in = Files.newInputStream(zip);
                OutputStream out = Files.newOutputStream(page)) {
            EvidencePage.write(in, out);
        }
        return page;
    }

    @Test
    void peopleFindTheirWayInItByKeysAndByItsAddress() throws Exception {
        Path page = page();
        Files.createDirectories(PICTURES);
        JsonNode said = Npm.script("browser.mjs", List.of("walk", page, bundles.logKey(), PICTURES))
                .getFirst();
        for (String scheme : List.of("light", "dark")) {
            assertEquals(List.of(), Npm.texts(said.path("axe " + scheme)), scheme);
            assertEquals(List.of(), Npm.texts(said.path("errors " + scheme)), scheme);
        }
        assertEquals(List.of(), Npm.texts(said.path("errors")));
        long last = bundles.run.nextIndex() - 1;
        assertEquals(Long.toString(last), said.path("end").asText());
        assertEquals("#event=" + last, said.path("endAddress").asText());
        assertEquals("1", said.path("second").asText());
        List<String> filtered = Npm.texts(said.path("filtered"));
        assertEquals(Bundles.BATCHES, filtered.size(), filtered::toString);
        assertTrue(filtered.stream().allMatch(row -> row.contains("/etc/shadow") && row.contains("failed (-13)")));
        assertTrue(said.path("details").asText().contains("/etc/shadow"), said::toString);
        assertEquals(said.path("details"), said.path("again"), "the address is the state");
        assertEquals(said.path("filtered"), said.path("againFiltered"), "the address is the state");
        long events = bundles.run.nextIndex();
        assertTrue(said.path("timeline").asText().startsWith(events + " events from "), said::toString);
        long counted = 0;
        for (JsonNode number : said.path("numbers")) {
            counted += number.asLong();
        }
        assertEquals(events, counted, "the table says what the picture shows");
        assertEquals(
                List.of("processes", "files", "network", "models", "privileges", "recording"),
                Npm.texts(said.path("lanes")));
        assertTrue(said.path("zoomed").asText().contains("span="), said::toString);
        // A pixel is a millisecond here, and so is what lies between two events.
        assertTrue(
                List.of("Event " + (events - 1), "Event " + (events - 2))
                        .contains(said.path("clicked").asText()),
                said::toString);
        assertListed(said);
        assertEquals("VERIFIED", said.path("trusted").path("badge").asText());
        assertEquals("VERIFIED", said.path("notAKey").path("badge").asText(), "a slip of the hand accuses nobody");
        assertEquals(
                "Key 1 is not a public key, which is <name>+<8 hex digits>+<base64>.",
                said.path("notAKey").path("faults").asText());
    }

    /// What the page lists besides events, and what it keeps of that in its address.
    private void assertListed(JsonNode said) {
        for (String view : List.of("processes", "files", "network", "marked")) {
            assertEquals(List.of(), Npm.texts(said.path("axe " + view)), view);
        }
        List<String> processes = Npm.texts(said.path("lists").path("processes"));
        assertTrue(
                processes.stream().anyMatch(row -> row.contains("cc -o /workspace/file3.o ''")), processes::toString);
        List<String> files = Npm.texts(said.path("lists").path("files"));
        assertTrue(files.stream().anyMatch(row -> row.contains("/etc/shadow")), files::toString);
        List<String> network = Npm.texts(said.path("lists").path("network"));
        assertTrue(
                network.stream().anyMatch(row -> row.contains("93.184.216.34:443") && row.contains("example.org")),
                network::toString);
        List<String> sorted = Npm.texts(said.path("sorted"));
        assertTrue(sorted.getFirst().contains("1,000"), sorted::toString);
        assertEquals(said.path("sorted"), said.path("sortedAgain"), "the address is the state");
        List<String> ofProcess = Npm.texts(said.path("ofProcess"));
        String pid = said.path("process").asText().split(" ")[3];
        assertTrue(ofProcess.size() > 5, ofProcess::toString);
        assertTrue(ofProcess.stream().allMatch(row -> row.contains(" " + pid + "\n")), ofProcess::toString);
        assertEquals(said.path("ofProcess"), said.path("ofProcessAgain"), "the address is the state");
        assertEquals(List.of("here it begins"), Npm.texts(said.path("marks")));
        assertTrue(said.path("root").asText().matches("[0-9a-f]{64}"), said::toString);
    }

    @Test
    void withoutAKeyItDoesNotSayWhoMadeIt() throws Exception {
        JsonNode said = open(List.of(page())).getFirst();
        assertEquals("VERIFIED, by its own keys", said.path("badge").asText());
        assertTrue(said.path("text").asText().contains("Who made it is not known"), said::toString);
        assertEquals(List.of(), Npm.texts(said.path("errors")));
        assertTrue(said.path("rows").asInt() > 10, said::toString);
    }

    @Test
    void thePageOfABundleAsksForOne() throws Exception {
        Path blank = Files.write(folder.resolve(EvidencePage.NAME), EvidencePage.blank());
        assertEquals(
                "No bundle yet", open(List.of(blank)).getFirst().path("badge").asText());
    }

    @Test
    void aFlippedBitIsFoundAndNamed() throws Exception {
        Path page = page();
        byte[] octets = Files.readAllBytes(page);
        int from =
                new String(octets, StandardCharsets.ISO_8859_1).indexOf("id=\"bundle\">") + "id=\"bundle\">".length();
        int to = octets.length - (EvidencePage.blank().length - from);
        var random = new Random(SEED);
        var flipped = new ArrayList<Path>();
        var places = new ArrayList<Integer>();
        for (int i = 0; i < FLIPS; i++) {
            byte[] changed = octets.clone();
            int at = from + random.nextInt(to - from);
            changed[at] ^= (byte) (1 << random.nextInt(8));
            flipped.add(Files.write(folder.resolve("flip-" + i + ".html"), changed));
            places.add(at - from);
        }
        List<JsonNode> said = open(flipped);
        for (int i = 0; i < FLIPS; i++) {
            JsonNode each = said.get(i);
            int place = places.get(i);
            assertEquals("TAMPERED", each.path("verdict").asText(), () -> "character " + place + ": " + each);
            assertNotEquals(List.of(), Npm.texts(each.path("findings")), () -> "character " + place + ": " + each);
            assertEquals(0, each.path("rows").asInt(), "nothing of it is shown");
        }
    }

    @Test
    void aPageWhoseProgramWasChangedDoesNotRun() throws Exception {
        Path page = page();
        String text = Files.readString(page);
        Path evil = folder.resolve("evil.html");
        Files.writeString(evil, text.replace("\"TAMPERED\"", "\"VERIFIED\""));
        assertNotEquals(text, Files.readString(evil));
        JsonNode said = open(List.of(evil)).getFirst();
        assertTrue(said.path("badge").isNull(), said::toString);
        assertTrue(said.path("text").asText().startsWith("NOT VERIFIED"), said::toString);
        assertFalse(said.path("title").asText().startsWith("VERIFIED"));
    }

    private static List<JsonNode> open(List<Path> pages) throws Exception {
        var words = new ArrayList<Object>(List.of("open"));
        words.addAll(pages);
        return Npm.script("browser.mjs", words);
    }
}
