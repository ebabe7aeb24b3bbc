package blackbox.replay.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.replay.content.ContentMatch;
import blackbox.replay.content.KnownTies;
import blackbox.replay.content.Origins;
import blackbox.replay.content.OwnIds;
import blackbox.replay.content.Window;
import blackbox.replay.content.WrittenWhen;
import blackbox.schemas.Seeded;
import blackbox.schemas.row.Text;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TranscriptIdsTest {
    private static final String A = "3fb3357d";
    private static final String B = "90c1e6fa";
    private static final String C = "a7d01b42";
    private static final String UUID_A = "3d1f60a2-8a4e-4f19-9c1a-0b6d2f3e4c5b";
    private static final String UUID_B = "e0b7c4d1-17f2-4a83-b2e6-91d5a8c7f064";

    private final TranscriptIds ids = new TranscriptIds(OwnIds.NONE);

    private static ByteArrayInputStream in(String text) {
        return new ByteArrayInputStream(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    private @Nullable Long differsAt(String recorded, String actual) throws IOException {
        var origins = new Origins(WrittenWhen.UNKNOWN, WrittenWhen.UNKNOWN, KnownTies.NONE, ids);
        return ContentMatch.of(in(recorded), in(actual), origins).firstDifference();
    }

    private static WrittenWhen written(long fromNs, long toNs, long sinceNs) {
        return new WrittenWhen() {
            @Override
            public Window at(long octet) {
                return new Window(fromNs, toNs);
            }

            @Override
            public long sinceNs() {
                return sinceNs;
            }
        };
    }

    private static String entry(String id, @Nullable String parent) {
        return "{\"type\":\"message\",\"id\":\"" + id + "\",\"parentId\":"
                + (parent == null ? "null" : "\"" + parent + "\"") + "}\n";
    }

    @Test
    void entriesAreTheSameButForTheirIds() throws IOException {
        assertNull(differsAt(entry(A, null) + entry(UUID_A, A), entry(B, null) + entry(UUID_B, B)));
        assertEquals(2, ids.count());
        assertNull(differsAt("{\"leafUuid\": \"" + A + "\"}", "{\"leafUuid\": \"" + B + "\"}"), "in another file");
        assertNull(differsAt("went on from " + UUID_A + ".", "went on from " + UUID_B + "."), "and anywhere in it");
        assertEquals(2, ids.count());
        var said = new ArrayList<String>();
        ids.say(said);
        assertTrue(said.getFirst().endsWith(": 2 (" + A + " for " + B + ")"), said::toString);
    }

    /// An entry has the time at which an answer began, too.
    @Test
    void timesAreFromWhenTheProgramRan() throws IOException {
        WrittenWhen when = written(1_795_802_450_000_000_000L, 1_795_802_451_000_000_000L, 1_795_802_430_000_000_000L);
        for (int second : new int[] {28, 35, 45, 50, 53}) {
            ContentMatch match = ContentMatch.of(
                    in("{\"timestamp\":1795802440208}"),
                    in("{\"timestamp\":17958024" + second + "911}"),
                    new Origins(when.sinceBegan(), when.sinceBegan(), KnownTies.NONE, ids));
            assertEquals(second > 28 && second < 53, match.difference() == null, () -> match + "");
        }
    }

    /// Whatever digits are drawn: a part of an id is no time, no duration and no number of a process.
    @Test
    void anyDigitsMayBeDrawn() throws IOException {
        WrittenWhen when = written(1_795_802_400_000_000_000L, 1_795_802_460_000_000_000L, 1_795_802_400_000_000_000L);
        var random = Seeded.random("transcript-ids");
        for (int each = 0; each < 100_000; each++) {
            int drawn = random.nextInt();
            String recorded = entry("%08x".formatted(drawn), null);
            String actual = entry("%08x".formatted(drawn ^ (random.nextInt() | 0x10_10_10_10)), null);
            var origins = new Origins(when, when, KnownTies.NONE, new TranscriptIds(OwnIds.NONE));
            ContentMatch match = ContentMatch.of(in(recorded), in(actual), origins);
            assertNull(match.difference(), () -> recorded + actual + match);
        }
    }

    @Test
    void referencesToAnotherEntryDiffer() throws IOException {
        String recorded = entry(A, null) + entry(C, A);
        assertEquals(
                (Long) (long) (recorded.length() + entry(UUID_A, "").indexOf("\"parentId\":\"") + 12),
                differsAt(
                        recorded + entry(UUID_A, A),
                        entry(B, null) + entry(UUID_B.substring(0, 8), B) + entry(UUID_A, UUID_B.substring(0, 8))));
    }

    /// A word that is equal on both sides is never asked about, so what is there is looked for at the end.
    @Test
    void recordedIdsAreNotSwappedForOthersThatAreThere() throws IOException {
        String both = entry(A, null) + entry(B, null);
        String recorded = both + "{\"parentId\":\"" + A + "\"}\n";
        String actual = both + "{\"parentId\":\"" + B + "\"}\n";
        var origins = new Origins(WrittenWhen.UNKNOWN, WrittenWhen.UNKNOWN, KnownTies.NONE, ids);
        assertNull(ContentMatch.of(ids.recorded(in(recorded)), ids.actual(in(actual)), origins)
                .difference());
        assertEquals(Map.entry(A, B), ids.refuted());
    }

    @Test
    void drawnIdsAreNotRefuted() throws IOException {
        var origins = new Origins(WrittenWhen.UNKNOWN, WrittenWhen.UNKNOWN, KnownTies.NONE, ids);
        assertNull(ContentMatch.of(
                        ids.recorded(in(entry(A, null) + entry(UUID_A, A))),
                        ids.actual(in(entry(B, null) + entry(UUID_B, B))),
                        origins)
                .difference());
        assertEquals(2, ids.count());
        assertNull(ids.refuted());
    }

    /// What requests showed stands for its own, and for nothing else.
    @Test
    void idsThatStandForOthersAlreadyAreNotTied() throws IOException {
        var known = new TranscriptIds(OwnIds.of(Map.of(UUID_A, UUID_B)));
        String field = "\"sessionId\":\"";
        String other = UUID_B.replace('1', '2');
        assertFalse(known.standFor(field, UUID_A, other));
        assertFalse(known.standFor(field, other, UUID_B));
        assertTrue(known.standFor(field, A, B));
    }

    @Test
    void swappedEntriesDiffer() throws IOException {
        assertEquals(
                (Long) (long) (entry(A, null).length() + 24),
                differsAt(entry(A, null) + entry(B, null), entry(B, null) + entry(A, null)));
    }

    /// Elsewhere than in a field that names an id, of another form, or too much like the other.
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"text\":\"3fb3357d\"} | {\"text\":\"90c1e6fa\"}",
                "{\"valid\":\"3fb3357d\"} | {\"valid\":\"90c1e6fa\"}",
                "id: 3fb3357d | id: 90c1e6fa",
                "{\"customerId\":\"3fb3357d\"} | {\"customerId\":\"90c1e6fa\"}",
                "{\"id\":\"3fb3357d\"} | {\"id\":\"90c1e6fab\"}",
                "{\"id\":\"3fb3357d\"} | {\"id\":\"90C1E6FA\"}",
                "{\"id\":\"3fb3357d\"} | {\"id\":\"3fb3357e\"}",
                "{\"id\":\"12345678\"} | {\"id\":\"12345682\"}",
                "{\"id\":\"3fb33\"} | {\"id\":\"90c1e\"}",
                "{\"id\":\"user-one\"} | {\"id\":\"user-two\"}",
                "{\"id\":\"3fb3357d-1\"} | {\"id\":\"90c1e6fa-1\"}"
            })
    void otherWordsDiffer(String recorded, String actual) throws IOException {
        assertTrue(differsAt(recorded, actual) != null, recorded);
        assertEquals(0, ids.count());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/home/agent/.pi/agent/sessions/--workspace--/2026-11-27T17-00-00-000Z_a.jsonl",
                "/root/.claude/projects/-workspace/a.jsonl",
                "/root/.claude/todos/a-agent-a.json",
                "/root/.claude/history.jsonl",
                "/root/.claude.json"
            })
    void transcriptsAreKnownByTheirPlace(String path) {
        assertTrue(TranscriptIds.are(Text.of(path)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/workspace/data.jsonl",
                "/workspace/.claude/projects/a/a.jsonl",
                "/root/.claude/worktrees/a/data.json",
                "/root/.claude/projects/a/a.jsonl.bak",
                "/root/.claude/projects/a/b/a.jsonl",
                "/workspace/claude/a.json",
                "/root/.claude/settings.toml",
                "/root/.claudes/a.json",
                "/root/my.claude.json"
            })
    void otherFilesAreNone(String path) {
        assertTrue(!TranscriptIds.are(Text.of(path)));
    }
}
