package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.store.Recordings;
import blackbox.node.record.Installation.Ended;
import blackbox.replay.Moment;
import blackbox.replay.disk.DiskAt;
import blackbox.replay.disk.DiskListing;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import blackbox.schemas.row.Text;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// How far the disk that `disk --at` shows lags behind what programs wrote.
class DiskDelayTest {

    private static final int MOMENTS = 20;
    private static final int SECONDS = 20;
    private static final long DELAY_MAX_NS = 1_000_000_000;
    private static final String AGENT =
            "for i in $(seq 10 " + (9 + SECONDS) + "); do echo content-$i > file-$i; sleep 1; done";

    @TempDir
    static Path folder;

    private static Installation blackbox;

    @BeforeAll
    static void install() throws Exception {
        blackbox = Installation.in(folder);
    }

    /// At a moment, whatever is not there or not whole is named, with a bound that is none too small; nothing that
    /// was written more than a second before is missing.
    @Test
    void whatMayBeMissingIsNamed() throws Exception {
        for (String tier : List.of("live", "exact")) {
            long seed = new Random().nextInt(1_000_000);
            Ended ended = blackbox.run("record", "--tier", tier, "--json", "--", "sh", "-c", AGENT)
                    .expect(0);
            var run = new RunId(ended.recorded().path("run").asText());
            SortedMap<String, Long> written = written(run);
            assertEquals(SECONDS, written.size());
            long first = Collections.min(written.values());
            long end = Collections.max(written.values());
            var random = new Random(seed);
            Recordings recordings = Recordings.unchecked(blackbox.data());
            long worst = 0;
            long bound = 0;
            for (int i = 0; i < MOMENTS; i++) {
                long at = first + 1 + random.nextLong(end - first);
                try (DiskAt disk = DiskAt.open(recordings, run, new Moment.AtTime(Instant.ofEpochSecond(0, at)))) {
                    SortedMap<String, String> tree = TreeState.of(disk.tree(), "/workspace");
                    var listing = DiskListing.of(disk, recordings, run, Text.of("/workspace"));
                    long asked = disk.shown().asked().atNs();
                    bound = Math.max(
                            bound, asked - Objects.requireNonNull(disk.shown().syncedNs()));
                    for (Map.Entry<String, Long> file : written.entrySet()) {
                        if (file.getValue() < at && !isWhole(tree, file.getKey())) {
                            worst = Math.max(worst, at - file.getValue());
                            assertTrue(
                                    mayLackNs(listing, file.getKey()) >= asked - file.getValue(),
                                    () -> tier + ", seed " + seed + ", " + file + " at " + at + ": " + listing);
                        }
                    }
                }
            }
            System.err.println("disk delay, " + tier + ": " + worst / 1_000_000 + " ms at most, said to be "
                    + bound / 1_000_000 + " ms at most, seed " + seed);
            answerHasTheFields(run, end);
            long found = worst;
            assertTrue(found <= DELAY_MAX_NS, () -> tier + ": " + found / 1_000_000 + " ms, seed " + seed);
        }
    }

    private static void answerHasTheFields(RunId run, long at) throws Exception {
        String time = Instant.ofEpochSecond(0, at).toString();
        JsonNode shown = blackbox.run("disk", run.value(), "--at", time, "--json", "--list", "/workspace")
                .expect(0)
                .json();
        assertTrue(shown.path("disk").path("syncedAt").isTextual(), shown::toString);
        assertTrue(shown.path("notOnDisk").isArray(), shown::toString);
        assertEquals(0, shown.path("entries").path(0).path("mayLackMs").asInt(-1), shown::toString);
    }

    /// What the listing says that a file may lack; any time if it is named as not on the disk, -1 if nothing is
    /// said of it.
    private static long mayLackNs(DiskListing listing, String path) {
        for (DiskListing.Entry entry : listing.entries()) {
            if (entry.path().equals(Text.of(path))) {
                return Objects.requireNonNull(entry.mayLack()).toNanos();
            }
        }
        return listing.notOnDisk().containsKey(Text.of(path)) ? Long.MAX_VALUE : -1;
    }

    /// When each file was written, on the host's clock.
    private static SortedMap<String, Long> written(RunId run) throws Exception {
        var written = new TreeMap<String, Long>();
        String events = blackbox.run("events", run.value(), "--json", "--actor", "agent", "--kind", "file")
                .expect(0)
                .out();
        for (String line : events.lines().toList()) {
            JsonNode event = new ObjectMapper().readTree(line);
            String path = event.path("path").asText();
            if (path.startsWith("/workspace/file-")
                    && event.path("bytesWritten").asLong() > 0) {
                var at = Instant.parse(event.path("at").asText());
                written.put(path, at.getEpochSecond() * 1_000_000_000L + at.getNano());
            }
        }
        return written;
    }

    private static boolean isWhole(SortedMap<String, String> shown, String path) {
        String content = path.replace("/workspace/file", "content") + "\n";
        String state = shown.getOrDefault(path, "");
        return state.contains(
                Hash.sha256(content.getBytes(StandardCharsets.UTF_8)).toString());
    }
}
