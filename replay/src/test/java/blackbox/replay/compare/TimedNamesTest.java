package blackbox.replay.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.replay.divergence.Alignment;
import blackbox.replay.divergence.AlignmentSettings;
import blackbox.replay.divergence.Divergences;
import blackbox.replay.divergence.EffectDifference;
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
    private static final long SECOND = 1_000_000_000;

    @TempDir
    Path folder;

    private int disks;

    private record Done(RecordedEvents events, List<String> files) {}

    /// What a program writes into files under names with the time.
    ///
    /// @param pattern of the time
    /// @param name with `$` for the time
    /// @param content the same
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

    private Done done(long seed, Plan plan) throws Exception {
        var events = new RecordedEvents(seed).open();
        Guest shell = events.fork(events.init, "sh");
        events.exec(shell, "/bin/sh", "run.sh");
        events.pass(300 * SECOND);
        Guest npm = events.fork(shell, "npm");
        events.exec(npm, "/usr/bin/npm", "ci");
        events.pass(4 * SECOND);
        Instant now = Instant.EPOCH.plusNanos(events.nowNs() - plan.behindNs());
        String time = DateTimeFormatter.ofPattern(plan.pattern())
                .withZone(ZoneOffset.UTC)
                .format(now);
        String path = plan.name().replace("$", time);
        events.create(npm, "/" + path, RecordedEvents.WRITE_CREATE);
        events.write(npm, "/" + path, 4);
        events.exit(npm, 0);
        events.exit(shell, 0);
        events.close();
        var files = new ArrayList<String>();
        files.add(new TestDisk(folder).write(path, plan.content().replace("$", time)));
        return new Done(events, files);
    }

    private Alignment compare(Plan recorded, Plan actual) throws Exception {
        Done one = done(1, recorded);
        Done other = done(2, actual);
        try (var files = new ComparedFiles(left(one), left(other))) {
            return Divergences.align(
                    new Side("one", one.events().source(), RunInputs.UNKNOWN),
                    new Side("other", other.events().source(), RunInputs.UNKNOWN),
                    files,
                    AlignmentSettings.of(7));
        }
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
        String near = DateTimeFormatter.ofPattern(NPM).withZone(ZoneOffset.UTC).format(then.minusMillis(500));
        Plan given = PLAN.named(near + ".tgz").saying("from " + near);
        Alignment alignment = compare(given, given);
        assertEquals(Alignment.Outcome.EQUIVALENT, alignment.outcome(), alignment::toString);
        assertFalse(alignment.rules().contains("made-up-names"), alignment::toString);
    }

    /// The name stands for the other one, but not what is in the file.
    @Test
    void whatItSaysIsComparedAllTheSame() throws Exception {
        assertDiffers(PLAN, PLAN.saying("log $-debug-0.log of 2026-11-25T12_11_37_123Z-\n"));
        assertDiffers(PLAN, PLAN.saying("log $-debug-1.log of $-\n"));
        assertDiffers(PLAN.saying("one"), PLAN.saying("two"));
    }
}
