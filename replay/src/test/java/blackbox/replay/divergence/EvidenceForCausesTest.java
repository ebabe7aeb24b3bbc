package blackbox.replay.divergence;

import static blackbox.replay.divergence.PlantedCausesTest.GIVEN;
import static blackbox.replay.divergence.PlantedCausesTest.SERVICE;
import static blackbox.replay.divergence.PlantedCausesTest.branch;
import static blackbox.replay.divergence.PlantedCausesTest.branchAfter;
import static blackbox.replay.divergence.PlantedCausesTest.fetches;
import static blackbox.replay.divergence.PlantedCausesTest.plant;
import static blackbox.replay.divergence.PlantedCausesTest.runs;
import static blackbox.replay.divergence.PlantedCausesTest.shell;
import static blackbox.replay.divergence.PlantedCausesTest.start;
import static blackbox.replay.divergence.PlantedCausesTest.unpack;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.text.Timestamps;
import blackbox.replay.divergence.Alignment.Outcome;
import blackbox.replay.divergence.PlantedCausesTest.Deeds;
import blackbox.replay.divergence.RecordedEvents.Guest;
import blackbox.replay.divergence.cause.DivergenceClass;
import blackbox.replay.divergence.cause.Side;
import blackbox.schemas.event.Event;
import java.util.List;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Test;

/// A class is named only where an event supports it, and a cause is never later than what it explains.
class EvidenceForCausesTest {

    /// A time that is so old that its name does not count as the time of what was created.
    private static final long OLD_NS = 90_000_000_000L;

    private static Deeds branchAtTime(Deeds before, LongFunction<String> written) {
        return (events, shell) -> {
            before.run(events, shell);
            long then = events.nowNs();
            events.pass(OLD_NS);
            return branch(events, shell, written.apply(then));
        };
    }

    @Test
    void theTimeDecides() throws Exception {
        List<LongFunction<String>> forms = List.of(
                ns -> "out-" + ns / 1_000_000_000,
                ns -> "out-" + ns / 1_000_000,
                ns -> "out-" + ns,
                ns -> "out-" + Timestamps.format(ns).substring(0, 19),
                ns -> "out-" + Timestamps.format(ns).substring(0, 19).replaceAll("[-:T]", ""));
        for (LongFunction<String> form : forms) {
            plant(branchAtTime(PlantedCausesTest::nothing, form), branchAtTime(PlantedCausesTest::nothing, form))
                    .is(DivergenceClass.CLOCK)
                    .saying("what differs contains a time, on each side one of its own run");
        }
    }

    /// That `date` ran shows nothing: it runs in every build.
    @Test
    void aClockThatWasOnlyReadIsNotTheCause() throws Exception {
        Deeds date = runs("date", "/etc/localtime");
        plant(branchAfter(date, "left"), branchAfter(date, "right"))
                .is(DivergenceClass.UNEXPLAINED)
                .saying("used before: ")
                .saying("/etc/localtime");
    }

    /// A number that looks like a time, but is not one of this run.
    @Test
    void aTimeOfNeitherRunIsNoEvidence() throws Exception {
        Deeds date = runs("date", "/etc/localtime");
        plant(branchAfter(date, "out-1712345678"), branchAfter(date, "out-1712345679"))
                .is(DivergenceClass.UNEXPLAINED);
        plant(branchAtTime(date, ns -> "out-" + ns / 1_000_000_000), branchAfter(date, "out-1712345679"))
                .is(DivergenceClass.UNEXPLAINED);
    }

    /// One variable has a different value: only names are recorded.
    @Test
    void anotherValueOfAVariable() throws Exception {
        Deeds date = runs("date", "/etc/localtime");
        plant(branchAfter(date, "mode-fast"), branchAfter(date, "mode-slow"))
                .is(DivergenceClass.UNEXPLAINED)
                .saying("values of environment variables");
    }

    /// A header of the same length in the answer: contents are not recorded.
    @Test
    void anotherHeader() throws Exception {
        Deeds date = runs("date", "/etc/localtime");
        Deeds asks = (events, shell) -> {
            date.run(events, shell);
            return fetches(8080, 500, "closed").run(events, shell);
        };
        plant(branchAfter(asks, "etag-a"), branchAfter(asks, "etag-b"))
                .is(DivergenceClass.UNEXPLAINED)
                .saying("of network traffic");
    }

    /// The same answer in different pieces: the flow is reported in different portions.
    @Test
    void differentChunks() throws Exception {
        Deeds date = runs("date", "/etc/localtime");
        plant(branchAfter(reads(date, 3), "left"), branchAfter(reads(date, 7), "right"))
                .isOfClass(DivergenceClass.UNEXPLAINED);
    }

    /// What a gateway saw inside of a connection that the two runs used alike: the last of several answers, and no
    /// later one.
    @Test
    void anotherAnswerInsideOfTheSameConnection() throws Exception {
        plant(asks("left", "aa", "x"), asks("right", "aa", "y")).is(DivergenceClass.UNEXPLAINED);
        plant(asks("left", "aaa", "x"), asks("right", "aba", "y"))
                .is(DivergenceClass.NET_DIFF)
                .saying("likely the answer to POST https://api.example/v1/1, the last one before it that differs: 200"
                        + " with 500 octets (bbbbbbbbbbbb…) instead of 200 with 500 octets (aaaaaaaaaaaa…)");
        plant(asks("left", "aaa", "x"), asks("right", "bab", "x"))
                .is(DivergenceClass.NET_DIFF)
                .saying("/v1/2, the last one")
                .saying("; so do 1 answers before");
        plant(asks("left", "", "aaaa"), asks("right", "", "bbbb")).is(DivergenceClass.UNEXPLAINED);
    }

    /// Answers before something is done, and answers after it.
    private static Deeds asks(String way, String before, String after) {
        return (events, shell) -> {
            int local = events.newPort();
            events.connect(shell, SERVICE, 443, 0);
            events.hostFlow(local, SERVICE, 443, 0, 0, "open");
            for (int each = 0; each < before.length(); each++) {
                events.answered(local, SERVICE, 443, "/v1/" + each, before.charAt(each), 500);
                events.pass(5_000_000_000L);
            }
            long index = branch(events, shell, way);
            events.pass(5_000_000_000L);
            for (int each = 0; each < after.length(); each++) {
                events.answered(local, SERVICE, 443, "/v1/after/" + each, after.charAt(each), 500);
            }
            events.guestFlow(shell, local, SERVICE, 443, 80, 1_500);
            events.hostFlow(local, SERVICE, 443, 80, 1_500, "closed");
            return index;
        };
    }

    private static Deeds reads(Deeds before, int pieces) {
        return (events, shell) -> {
            before.run(events, shell);
            int local = events.newPort();
            events.connect(shell, SERVICE, 8080, 0);
            events.hostFlow(local, SERVICE, 8080, 80, 0, "open");
            for (int piece = 0; piece < pieces; piece++) {
                events.write(shell, "/workspace/answer", piece == 0 ? 500 - pieces + 1 : 1);
            }
            events.guestFlow(shell, local, SERVICE, 8080, 80, 500);
            return events.hostFlow(local, SERVICE, 8080, 80, 500, "closed");
        };
    }

    /// The addresses of a name in a different order, asked for before the divergence and after it.
    @Test
    void dnsAnswersInAnotherOrder() throws Exception {
        plant(
                        branchAfter(resolves("192.0.2.1", "192.0.2.2"), "left"),
                        branchAfter(resolves("192.0.2.2", "192.0.2.1"), "right"))
                .isOfClass(DivergenceClass.NET_DIFF)
                .saying("answered differently");
        plant(
                        branchesAndResolves("left", "192.0.2.1", "192.0.2.2"),
                        branchesAndResolves("right", "192.0.2.2", "192.0.2.1"))
                .is(DivergenceClass.UNEXPLAINED);
    }

    private static Deeds resolves(String... answers) {
        return (events, shell) -> {
            events.dns(shell, "example.test", answers);
            return events.connect(shell, SERVICE, 8080, 0);
        };
    }

    private static Deeds branchesAndResolves(String branch, String... answers) {
        return (events, shell) -> {
            events.connect(shell, SERVICE, 8080, 0);
            long index = branch(events, shell, branch);
            events.dns(shell, "example.test", answers);
            return index;
        };
    }

    /// A replay that is ended at a request without an answer has no close; what it still did is not the divergence.
    @Test
    void aReplayThatEndedAtARequest() throws Exception {
        var one = new RecordedEvents(1).open();
        var other = new RecordedEvents(2).open();
        shell(one, branchAfter(fetches(8080, 500, "closed"), "left"));
        unpack(other, 120);
        Guest shell = start(other, List.of("PATH", "HOME"));
        Guest curl = other.fork(shell, "curl");
        other.exec(curl, "/usr/bin/curl", "http://10.0.2.2:8080/");
        other.connect(curl, SERVICE, 8080, 0);
        long miss = other.add(new Event.NetMiss(
                other.host(), "REQUEST", "{\"protocol\":\"tcp\",\"remote\":{\"ip\":\"10.0.2.2\",\"port\":8080}}"));
        other.open(curl, "/usr/share/locale/errors");
        Alignment alignment = Divergences.align(
                new Side("one", one.source(), GIVEN),
                new Side("other", other.source(), GIVEN),
                LeftFiles.UNKNOWN,
                AlignmentSettings.of(3));
        assertEquals(Outcome.DIVERGED, alignment.outcome(), alignment::toString);
        DivergencePoint first = alignment.firstDivergence();
        assertNotNull(first);
        assertEquals(DivergenceClass.NET_MISS, first.reason(), first::toString);
        assertEquals(miss, first.actualIndex(), first::toString);
        assertTrue(first.expected().contains("net.connect"), first::toString);
    }
}
