package blackbox.replay.content;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/// A duration may stand for another one that is written alike, if each is from its own side's time.
final class TiedDurationsTest {
    private static final long SECOND = 1_000_000_000;
    private static final long BEGAN = 1_795_611_318 * SECOND;

    /// Written so long after its writer began.
    private static WrittenWhen after(double seconds, boolean printed) {
        return new WrittenWhen() {
            @Override
            public boolean isPrinted() {
                return printed;
            }

            @Override
            public Window at(long octet) {
                return new Window(BEGAN, BEGAN + (long) (seconds * SECOND));
            }

            @Override
            public long sinceNs() {
                return BEGAN;
            }
        };
    }

    private static ContentMatch match(String recorded, double stretch, String actual, double otherStretch)
            throws IOException {
        return ContentMatch.of(in(recorded), in(actual), new Origins(after(stretch, true), after(otherStretch, true)));
    }

    private static ByteArrayInputStream in(String text) {
        return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
    }

    private static void assertTied(int count, String recorded, String actual) throws IOException {
        ContentMatch match = match(recorded, 5, actual, 5);
        assertNull(match.difference(), match::toString);
        assertEquals(count, match.durations().count(), recorded);
    }

    private static void assertDiffers(String recorded, String actual) throws IOException {
        assertNotNull(match(recorded, 5, actual, 5).difference(), () -> recorded + " and " + actual);
    }

    @Test
    void knownForms() throws IOException {
        assertTied(1, "added 12 packages in 3s\n", "added 12 packages in 4s\n");
        assertTied(1, "passed in 0.012s", "passed in 0.113s");
        assertTied(1, "took 12 ms.", "took 9 ms.");
        assertTied(1, "(12ms)", "(123ms)");
        assertTied(1, "1 second", "2 seconds");
        assertTied(1, "after 12.5 \u00b5s", "after 13.5 \u00b5s");
        assertTied(
                3,
                "real\t0m0.105s\nuser\t0m0.012s\nsys\t0m0.004s\n",
                "real\t0m0.131s\nuser\t0m0.013s\nsys\t0m0.010s\n");
        assertEquals(
                List.of(new Tie(9, "0m0.105s", 9, "0m0.131s")),
                match("\n\n\n\nreal\t0m0.105s", 1, "\n\n\n\nreal\t0m0.131s", 1)
                        .durations()
                        .first());
    }

    @Test
    void aLongerOneThanThereWasTimeIsADifference() throws IOException {
        assertNotNull(match("in 3s", 5, "in 7s", 5).difference());
        assertNotNull(match("in 7s", 5, "in 3s", 5).difference());
        assertNotNull(match("in 3s", 5, "in 7s", 5.5).difference(), "longer than its writer lived");
        assertNull(match("in 3s", 5, "in 7s", 8.5).difference(), "that side took longer");
        assertNotNull(match("in 3s", 50, "in 9s", 50).difference(), "both sides took as long");
        assertNotNull(match("in 0m1.000s", 5, "in 9m1.000s", 5).difference());
    }

    @Test
    void withoutUnitOrInAnotherFormItIsNone() throws IOException {
        assertDiffers("in 3", "in 4");
        assertDiffers("in 3 s", "in 4s");
        assertDiffers("in 3 s", "in 3 ms");
        assertDiffers("in 3.1s", "in 3.12s");
        assertDiffers("in 3s", "in 3.5s");
        assertDiffers("3 packages", "4 packages");
        assertDiffers("3 sheep", "4 sheep");
        assertDiffers("v3s", "v4s");
        assertDiffers("1.2.3s", "1.2.4s");
        assertDiffers("-3s", "-4s");
        assertDiffers("3s_", "4s_");
        assertDiffers("12:03 s", "12:04 s");
        assertDiffers("412 \u00b5s and more", "412 \u00b5s or more");
    }

    /// What was chosen, such as a time-out, is mostly a round number.
    @Test
    void roundNumbersAreCompared() throws IOException {
        assertDiffers("timeout 100 ms", "timeout 200 ms");
        assertDiffers("timeout 10ms", "timeout 20ms");
        assertTied(1, "took 100 ms", "took 103 ms");
    }

    /// In a file, a plain number may be a setting.
    @Test
    void inAFileOnlyWhatIsPreciseStands() throws IOException {
        var origins = new Origins(after(5, false), after(5, false));
        assertNull(ContentMatch.of(in("took 0.12s"), in("took 0.31s"), origins).difference());
        assertNull(ContentMatch.of(in("took 12 ms"), in("took 9 ms"), origins).difference());
        assertNotNull(
                ContentMatch.of(in("timeout: 3s"), in("timeout: 4s"), origins).difference());
        assertNotNull(ContentMatch.of(in("timeout: 1.5s"), in("timeout: 2.5s"), origins)
                .difference());
        assertNotNull(ContentMatch.of(in("timeout: 1m5s"), in("timeout: 1m4s"), origins)
                .difference());
        assertNotNull(ContentMatch.of(in("timeout: 100ms"), in("timeout: 200ms"), origins)
                .difference());
    }

    /// Whole numbers of a unit that was chosen by how long it took.
    @Test
    void aRoundedDurationIsTheSameStretchOfTime() throws IOException {
        for (String[] pair : new String[][] {
            {"in 47s", "47", "in 2m", "95"}, // to the nearest
            {"in 47s", "47", "in 1m", "95"}, // what was left over was dropped
            {"in 1m", "89", "in 2m", "91"},
            {"in 2m", "125", "in 3m", "185"},
            {"in 999ms", "0.999", "in 2s", "2.4"},
            {"in 59m", "3540", "in 1h", "3700"},
            {"in 60s", "59.7", "in 1m", "61"},
            {"in 1h", "4000", "in 2h", "7300"},
        }) {
            ContentMatch match =
                    ofStretch(pair[0], Double.parseDouble(pair[1]), pair[2], Double.parseDouble(pair[3]), true);
            assertNull(match.difference(), match::toString);
            assertEquals(1, match.durations().count());
        }
        assertNotNull(ofStretch("in 47s", 47, "in 2m", 95, false).difference(), "a file");
        assertNotNull(ofStretch("in 1m", 70, "in 2m", 70, true).difference());
        assertNotNull(ofStretch("in 1m", 100, "in 2m", 100, true).difference(), "not rounded in the same way");
        assertNotNull(ofStretch("in 1m", 70, "in 3m", 130, true).difference());
        assertNotNull(ofStretch("in 47s", 47, "in 1m", 27, true).difference());
        assertNotNull(ofStretch("in 47s", 30, "in 1m", 61, true).difference());
        assertNotNull(ofStretch("walk 1 m", 89, "walk 2 m", 91, true).difference());
        assertNotNull(ofStretch("1.5m", 89, "1.6m", 91, true).difference());
    }

    /// A program that writes `90s` or `0s` does not choose its unit by how long it took.
    @Test
    void aDurationThatSuitsAnotherUnitIsNotRounded() throws IOException {
        for (String[] pair : new String[][] {
            {"in 49s", "49", "in 1m"},
            {"in 90s", "90", "in 1m"},
            {"in 90s", "90", "in 2m"},
            {"in 30m", "1800", "in 1h"},
            {"in 500ms", "0.5", "in 1s"},
            {"in 0s", "0.2", "in 200ms"},
            {"in 90m", "5400", "in 2h"},
        }) {
            double seconds = Double.parseDouble(pair[1]);
            assertNotNull(ofStretch(pair[0], seconds, pair[2], seconds, true).difference(), pair[0]);
            assertNotNull(ofStretch(pair[2], seconds, pair[0], seconds, true).difference(), pair[0]);
        }
        assertNotNull(ofStretch("in 90s", 90, "in 2m", 120, true).difference());
    }

    /// Colours, sizes and columns, with an `m` or `h` after a number.
    @Test
    void minutesAndHoursStandOnlyWhereSomethingIsSaidToHaveTakenThem() throws IOException {
        assertNull(ofStretch("done in 1m\n", 80, "done in 2m\n", 100, true).difference());
        for (String text : new String[] {
            "\u001b[#m ", "\u001b[#m-", "\u001b[#m\n", "\u001b[0;#m\n", "\u001b[?#h ", "in \u001b[#m ", "[#m]", ";#m",
            "heap #m 6m", "-Xmx #m", "#h", "main #m", "(#m)", "in #m 12s", "in_ #m", "_in #m",
        }) {
            boolean hours = text.contains("#h");
            ContentMatch match = ofStretch(
                    text.replace("#", "1"), hours ? 4_000 : 80, text.replace("#", "2"), hours ? 7_300 : 100, true);
            assertNotNull(match.difference(), text);
        }
    }

    /// `ESC [ 0 m` and what follows it are no minutes and seconds.
    @Test
    void aColourIsNoDuration() throws IOException {
        for (String text : List.of("\u001b[#m1.25s", "\u001b[0;#m1.25s", "\u001b[#ms", "\u001b[1;#min", "\u001b[#s")) {
            ContentMatch match = match(text.replace("#", "31"), 1_900, text.replace("#", "32"), 1_960);
            assertNotNull(match.difference(), text);
        }
        assertTied(1, "\u001b[0m1.25s\u001b[1m", "\u001b[0m1.53s\u001b[1m");
        assertTied(1, "\u001b[38;2;255;255;255;48;2;255;255;255m12ms", "\u001b[38;2;255;255;255;48;2;255;255;255m9ms");
        assertTied(1, "[12ms]", "[9ms]");
        assertDiffers("\u001b[0x12ms", "\u001b[0x9ms");
    }

    /// One thing took so long on each side.
    private static ContentMatch ofStretch(
            String recorded, double seconds, String actual, double otherSeconds, boolean printed) throws IOException {
        KnownTies ties = new KnownTies() {
            @Override
            public boolean standFor(String one, String other) {
                return false;
            }

            @Override
            public boolean isSameStretch(long recordedNs, Window length, long actualNs, Window otherLength) {
                return isIn(recordedNs - BEGAN, length) && isIn(actualNs - BEGAN, otherLength);
            }
        };
        return ContentMatch.of(
                in(recorded), in(actual), new Origins(after(seconds, printed), after(otherSeconds, printed), ties));
    }

    /// A program that measures itself began later than the first that has the output: here two seconds later in the
    /// recording, and four in the replay.
    @Test
    void whatBeganLaterThanItsWriterTookAsLongAsTheSameOnTheOtherSide() throws IOException {
        KnownTies ties = new KnownTies() {
            @Override
            public boolean standFor(String one, String other) {
                return false;
            }

            @Override
            public boolean isSameStretch(long recordedNs, Window length, long actualNs, Window otherLength) {
                return isIn(recordedNs - BEGAN - 2 * SECOND, length)
                        && isIn(actualNs - BEGAN - 4 * SECOND, otherLength);
            }
        };
        for (String other : List.of("in 21s", "in 20s", "in 23.1s", "in 21 s")) {
            var origins = new Origins(after(25.2, true), after(25.1, true), ties);
            ContentMatch match = ContentMatch.of(in("in 23s"), in(other), origins);
            assertEquals(other.equals("in 21s"), match.difference() == null, other);
        }
    }

    private static boolean isIn(long ns, Window window) {
        return ns >= window.fromNs() && ns < window.toNs();
    }

    @Test
    void itIsNotKnownWhenTheWriterBegan() throws IOException {
        var unknown = new Origins(_ -> new Window(BEGAN, BEGAN + SECOND), after(1, true));
        assertEquals(3, ContentMatch.of(in("in 3s"), in("in 4s"), unknown).firstDifference());
    }
}
