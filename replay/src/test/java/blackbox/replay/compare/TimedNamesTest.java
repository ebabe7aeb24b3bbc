package blackbox.replay.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.replay.divergence.Alignment;
import blackbox.replay.divergence.AlignmentSettings;
import blackbox.replay.divergence.Divergences;
import blackbox.replay.divergence.EffectDifference;
import blackbox.replay.divergence.LeftFiles;
import blackbox.replay.divergence.RecordedEvents;
import blackbox.replay.divergence.RecordedEvents.Guest;
import blackbox.replay.divergence.cause.RunInputs;
import blackbox.replay.divergence.cause.Side;
import blackbox.replay.files.CleanDisk;
import blackbox.replay.files.RecordedFiles;
import blackbox.replay.files.TestDisk;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Names of files that have the time in them: each its side's own, or a difference.
class TimedNamesTest {
    private static final String NPM = "uuuu-MM-dd'T'HH_mm_ss_SSS'Z'";
    private static final String MILLISECONDS = "since 1970";
    private static final long SECOND = 1_000_000_000;

    @TempDir
    Path folder;

    private int disks;

    private record Done(RecordedEvents events, List<String> files) {}

    /// What a program writes into files under names with the time.
    ///
    /// @param pattern of the time
    /// @param name with `$` for the time
    /// @param content the same, with `#` for the time in the first name
    /// @param behindNs how old the time is when the file is created
    private record Plan(String pattern, String name, String content, long behindNs) {
        Plan named(String other) {
            return new Plan(pattern, other, content, behindNs);
        }

        Plan saying(String other) {
            return new Plan(pattern, name, other, behindNs);
        }

        Plan behind(long ns) {
            return new Plan(pattern, name, content, ns);
        }
    }

    private static final Plan PLAN = new Plan(NPM, "$-debug-0.log", "log $-debug-0.log of $-\n", 700_000_000);

    private Done done(long seed, Plan... plans) throws Exception {
        var events = new RecordedEvents(seed).open();
        Guest shell = events.fork(events.init, "sh");
        events.exec(shell, "/bin/sh", "run.sh");
        events.pass(300 * SECOND);
        Guest npm = events.fork(shell, "npm");
        events.exec(npm, "/usr/bin/npm", "ci");
        var files = new ArrayList<String>();
        String first = null;
        for (Plan plan : plans) {
            events.pass(4 * SECOND);
            String time = time(plan.pattern(), Instant.EPOCH.plusNanos(events.nowNs() - plan.behindNs()));
            first = first == null ? time : first;
            String path = plan.name().replace("$", time);
            events.create(npm, "/" + path, RecordedEvents.WRITE_CREATE);
            events.write(npm, "/" + path, 4);
            String content = plan.content().replace("$", time).replace("#", first);
            files.add(new TestDisk(folder).write(path, content));
        }
        events.exit(npm, 0);
        events.exit(shell, 0);
        events.close();
        return new Done(events, files);
    }

    private static String time(String pattern, Instant when) {
        if (pattern.equals(MILLISECONDS)) {
            return String.valueOf(when.toEpochMilli());
        }
        return DateTimeFormatter.ofPattern(pattern).withZone(ZoneOffset.UTC).format(when);
    }

    private Alignment compare(Plan recorded, Plan actual) throws Exception {
        return compare(done(1, recorded), done(2, actual));
    }

    private Alignment compare(Done one, Done other) throws Exception {
        try (var files = new ComparedFiles(left(one), left(other))) {
            return align(one, other, files);
        }
    }

    private static Alignment align(Done one, Done other, LeftFiles files) throws Exception {
        return Divergences.align(
                new Side("one", one.events().source(), RunInputs.UNKNOWN),
                new Side("other", other.events().source(), RunInputs.UNKNOWN),
                files,
                AlignmentSettings.of(7));
    }

    private ComparedFiles.Left left(Done side) throws Exception {
        Path disk = new TestDisk(folder).make("disk" + disks++, side.files());
        return new ComparedFiles.Left(
                () -> new RecordedFiles.Known(CleanDisk.open(disk)),
                side.events().source());
    }

    private void assertSame(Plan recorded, Plan actual) throws Exception {
        Alignment alignment = compare(recorded, actual);
        assertEquals(Alignment.Outcome.EQUIVALENT, alignment.outcome(), alignment::toString);
        assertEquals(0, alignment.differences().path(), alignment::toString);
        assertTrue(alignment.rules().contains("made-up-names"), alignment::toString);
        assertTrue(alignment.rules().contains("values"), alignment::toString);
    }

    private void assertDiffers(Plan recorded, Plan actual) throws Exception {
        Alignment alignment = compare(recorded, actual);
        assertEquals(Alignment.Outcome.DIVERGED, alignment.outcome(), alignment::toString);
        EffectDifference first = alignment.differences().shownEffects().getFirst();
        assertEquals(EffectDifference.Kind.FILE, first.kind(), first::toString);
    }

    @Test
    void aNameWithItsSidesTimeStandsForTheOtherOne() throws Exception {
        assertSame(PLAN, PLAN);
        assertSame(PLAN, PLAN.behind(4 * SECOND)); // when its program began
        for (String pattern : List.of("uuuuMMdd-HHmmss", "uuuuMMdd_HHmmss", "uuuu-MM-dd_HH-mm-ss", "uuuuMMddHHmmss")) {
            assertSame(new Plan(pattern, "run-$.txt", "of $", 0), new Plan(pattern, "run-$.txt", "of $", 0));
            assertSame(new Plan(pattern, "run_$.txt", "", 0), new Plan(pattern, "run_$.txt", "", 0));
        }
    }

    /// As programs name what they rename into place: after their own number and the time.
    @Test
    void aTimeMayFollowANumber() throws Exception {
        Plan plan = new Plan(MILLISECONDS, "app.json.tmp.121.$", "of 121.5", 0);
        assertSame(plan, plan);
        assertDiffers(plan, plan.behind(400 * SECOND));
        assertDiffers(plan, plan.named("app.json.tmp.122.$"));
    }

    @Test
    void anyOtherTimeOrNameIsADifference() throws Exception {
        for (long behind : new long[] {20 * SECOND, 3_600 * SECOND, -5 * SECOND}) {
            assertDiffers(PLAN, PLAN.behind(behind));
            assertDiffers(PLAN.behind(behind), PLAN);
        }
        assertDiffers(PLAN, PLAN.named("$-debug-1.log"));
        assertDiffers(PLAN, PLAN.named("x$-debug-0.log"));
        assertDiffers(PLAN, PLAN.named("2026-11-25T12_11_37_123Z-debug-0.log"));
        assertDiffers(PLAN, new Plan("uuuuMMdd-HHmmss", PLAN.name(), PLAN.content(), PLAN.behindNs()));
    }

    /// It was given to both, and not read from a clock.
    @Test
    void oneNameForBothIsTheSameWhateverTheClocksShow() throws Exception {
        Done first = done(1, PLAN.behind(0));
        Instant then = Instant.EPOCH.plusNanos(first.events().nowNs());
        String near = time(NPM, then.minusMillis(500));
        Plan given = PLAN.named(near + ".tgz").saying("from " + near);
        Alignment alignment = compare(given, given);
        assertEquals(Alignment.Outcome.EQUIVALENT, alignment.outcome(), alignment::toString);
        assertFalse(alignment.rules().contains("made-up-names"), alignment::toString);
    }

    /// Two times came with an answer, and each side gave them to other things.
    @Test
    void timesThatBothSidesGaveAreCompared() throws Exception {
        Instant then = Instant.EPOCH.plusNanos(done(1, PLAN.behind(0)).events().nowNs());
        String one = time(NPM, then.minusMillis(700));
        String other = time(NPM, then.minusMillis(300));
        Plan said = PLAN.saying("the same");
        Done recorded = done(1, said.named("a-" + one), said.named("b-" + other));
        Done actual = done(1, said.named("a-" + other), said.named("b-" + one));
        Alignment alignment = compare(recorded, actual);
        assertEquals(Alignment.Outcome.DIVERGED, alignment.outcome(), alignment::toString);
        assertEquals(
                Alignment.Outcome.DIVERGED,
                align(recorded, actual, LeftFiles.UNKNOWN).outcome());
        assertEquals(
                Alignment.Outcome.EQUIVALENT,
                align(recorded, done(2, said.named("a-" + one), said.named("b-" + other)), LeftFiles.UNKNOWN)
                        .outcome());
    }

    /// Elsewhere too a time stands only for the one whose file stands for its file.
    @Test
    void aTimeStandsForThatOfTheFileThatStandsForItsFile() throws Exception {
        Plan latest = PLAN.named("latest").saying("#");
        Done recorded = done(1, PLAN.saying("aaaa"), PLAN.saying("bb"), latest);
        Alignment same = compare(recorded, done(2, PLAN.saying("aaaa"), PLAN.saying("bb"), latest));
        assertEquals(Alignment.Outcome.EQUIVALENT, same.outcome(), same::toString);
        Alignment alignment = compare(recorded, done(2, PLAN.saying("bb"), PLAN.saying("aaaa"), latest));
        assertEquals(Alignment.Outcome.DIVERGED, alignment.outcome(), alignment::toString);
        assertEquals(
                List.of("/latest"),
                alignment.differences().shownEffects().stream()
                        .map(EffectDifference::subject)
                        .toList());
    }

    /// The name stands for the other one, but not what is in the file.
    @Test
    void whatItSaysIsComparedAllTheSame() throws Exception {
        assertDiffers(PLAN, PLAN.saying("log $-debug-0.log of 2026-11-25T12_11_37_123Z-\n"));
        assertDiffers(PLAN, PLAN.saying("log $-debug-1.log of $-\n"));
        assertDiffers(PLAN.saying("one"), PLAN.saying("two"));
    }
}
