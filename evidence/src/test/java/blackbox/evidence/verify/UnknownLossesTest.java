package blackbox.evidence.verify;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.TestRun;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.verify.Verification.Completeness;
import blackbox.evidence.verify.Verification.Integrity;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.Finding;
import blackbox.schemas.event.FindingDetail;
import blackbox.schemas.event.GuestOrigin;
import blackbox.schemas.event.Kind;
import blackbox.schemas.event.Marks;
import blackbox.schemas.event.Source;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.LeafCodec;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.Counts;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// What a run lacks is said to be known only where it is. Runs of a guest with two CPUs.
class UnknownLossesTest {

    @TempDir
    Path folder;

    private TestRun run;

    /// Opened, with a tracer whose numbers begin at 6 and 10, and an event of each CPU.
    @BeforeEach
    void begin() throws Exception {
        run = new TestRun(folder).open("run");
        ready("{\"cpuSeq\":[5,9]}");
        frame(0, 6);
        frame(1, 10);
    }

    private void ready(String detail) {
        run.add(new Event.TracerReady(EventHeader.host(run.tick()), detail));
    }

    private long frame(int cpu, long number) {
        var header = new EventHeader(run.tick(), Source.GUEST, new GuestOrigin(cpu, number), null, Marks.NONE);
        return run.add(new Event.ProcessRunning(header, Text.of("/bin/true")));
    }

    /// A heartbeat of both CPUs; the index from which on nothing accounts for their numbers anymore.
    private long beat() {
        run.heartbeat(0, false);
        long from = frame(0, run.nextNumber(0));
        run.heartbeat(1, false);
        return from;
    }

    private long find(FindingDetail detail) {
        return run.add(new Event.RecorderFinding(EventHeader.host(run.tick()), detail));
    }

    private long lose(long lost, String what, @Nullable String detail) {
        return run.add(new Event.RecorderLoss(EventHeader.host(run.tick()), lost, what, detail));
    }

    private static FindingDetail detailOf(Finding finding) {
        return switch (finding) {
            case GUEST_SILENT -> new FindingDetail.GuestSilent(1);
            case GUEST_BACK -> new FindingDetail.GuestBack(1);
            case TRACER_UNFINISHED -> new FindingDetail.TracerUnfinished(0);
            case TRACER_ENDED -> new FindingDetail.TracerEnded(-9, 1);
            case GUEST_STREAM_BROKEN -> new FindingDetail.GuestStreamBroken("IOException");
            case MALFORMED_FRAME -> new FindingDetail.MalformedFrame(1);
            case UNKNOWN_FRAME -> new FindingDetail.UnknownFrame(999);
            case SEQUENCE_REPEATED -> new FindingDetail.SequenceRepeated(0, 6);
            case SEQUENCE_IMPOSSIBLE -> new FindingDetail.SequenceImpossible(0, -1);
            case DNS_UNREADABLE -> new FindingDetail.DnsUnreadable();
            case CRED_UNREADABLE -> new FindingDetail.CredUnreadable();
            case FRAMES_UNREADABLE -> new FindingDetail.FramesUnreadable("frames-out");
            case CAPTURE_FAILED -> new FindingDetail.CaptureFailed("frames-out");
            case CLOCK_SET_BACK -> new FindingDetail.ClockSetBack(1);
            case LIMIT_REACHED -> new FindingDetail.LimitReached("pids", 1);
            case EGRESS_NOTICED -> new FindingDetail.EgressNoticed("SOURCE_FORGED", 1);
            case FLOW_WITHOUT_CONNECT, CONNECT_WITHOUT_FLOW, NAME_NOT_ASKED, SNI_NOT_ADDRESS, SOURCE_FORGED ->
                new FindingDetail.SidesDiffer(finding, "tcp", "a:1", "b:2", null, null, 1L, 2L, null, 1);
        };
    }

    private Verification verify() throws IOException {
        if (run.batches.isEmpty()) {
            run.seal();
        }
        run.spool(0, run.batches.size());
        Verification verification =
                RunVerifier.verify(Recordings.unchecked(folder), run.run, List.of(run.key.verifier()));
        assertEquals(Integrity.VERIFIED, verification.integrity(), verification::toString);
        assertTrue(verification.unknownFrom() == null
                || verification.completeness() != Completeness.COMPLETE
                        && verification.completeness() != Completeness.LOSS_DECLARED);
        return verification;
    }

    private Verification unknownFrom(long index, String... names) throws IOException {
        Verification verification = verify();
        assertEquals(Completeness.UNKNOWN, verification.completeness(), verification::toString);
        assertEquals(index, verification.unknownFrom(), verification::toString);
        assertFalse(verification.holds());
        for (String name : names) {
            assertTrue(
                    verification.findings().stream()
                            .anyMatch(each -> each.what().startsWith(name + ": ")),
                    () -> name + " in " + verification);
        }
        return verification;
    }

    private void known(Completeness completeness) throws IOException {
        Verification verification = verify();
        assertEquals(completeness, verification.completeness(), verification::toString);
        assertNull(verification.unknownFrom());
        assertTrue(verification.holds());
    }

    @Test
    void aRunWhoseTracerEndedOnEachCpuIsComplete() throws Exception {
        beat();
        run.close(0);
        known(Completeness.COMPLETE);
        assertEquals(List.of(), verify().findings());
    }

    @Test
    void probesThatWereNotAttachedLeaveWhatTheyWouldHaveSeenUnknown() throws Exception {
        run = new TestRun(folder).open("run");
        ready("{\"failed\":[{\"probe\":\"do_filp_open\",\"why\":[]}],\"cpuSeq\":[5,9]}");
        long from = frame(0, 6);
        frame(1, 10);
        run.close(0);
        unknownFrom(from, "PROBE_NOT_ATTACHED");
    }

    @Test
    void nothingAccountsForACpuThatNoGuestHas() throws Exception {
        long from = beat();
        frame(4_096, 1);
        beat();
        run.close(0);
        unknownFrom(from, "CPU_IMPOSSIBLE");
    }

    /// What a reader is not given is not 0 lost. The verifier itself refuses such a run.
    @Test
    void eventsThatAreNotThereAreNotKnownToBeNone() {
        var account = new EventAccount();
        account.see(0, new Row());
        account.see(2, new Row());
        assertEquals(0, account.losses(false).unknownFrom());
        assertEquals(List.of("EVENTS_MISSING", "TRACER_UNFINISHED", "NOT_CLOSED"), account.unknownBecause());
    }

    @Test
    void declaredLossesAreKnown() throws Exception {
        frame(1, 14);
        lose(3, "sequence", "{\"cpu\":1,\"from\":11,\"to\":13}");
        lose(2, "probe-missed", null);
        run.close(0);
        known(Completeness.LOSS_DECLARED);
    }

    /// Each finding between heartbeats, in a run that ends in good order.
    @ParameterizedTest
    @EnumSource(Finding.class)
    void eachFindingIsNamedAndJudged(Finding finding) throws Exception {
        long from = beat();
        long index = find(detailOf(finding));
        beat();
        run.close(0);
        Verification verification = verify();
        assertEquals(
                List.of(index),
                verification.findings().stream()
                        .filter(each -> each.what().equals(finding.name() + ": " + finding.words()))
                        .map(Verification.Finding::index)
                        .toList());
        boolean answered = finding == Finding.GUEST_SILENT;
        if (finding.leavesUnknown() && !answered) {
            unknownFrom(from, finding.name());
        } else {
            known(Completeness.COMPLETE);
        }
    }

    @Test
    void whatLeavesSomethingUnknownIsListedHere() {
        assertEquals(
                List.of(
                        Finding.GUEST_SILENT,
                        Finding.TRACER_UNFINISHED,
                        Finding.GUEST_STREAM_BROKEN,
                        Finding.MALFORMED_FRAME,
                        Finding.UNKNOWN_FRAME,
                        Finding.SEQUENCE_REPEATED,
                        Finding.SEQUENCE_IMPOSSIBLE,
                        Finding.CRED_UNREADABLE,
                        Finding.FRAMES_UNREADABLE),
                List.of(Finding.values()).stream()
                        .filter(Finding::leavesUnknown)
                        .toList());
    }

    @Test
    void aTracerThatDiesLeavesItsRunUnknownFromItsLastHeartbeats() throws Exception {
        beat();
        long from = beat();
        frame(0, run.nextNumber(0));
        find(new FindingDetail.TracerUnfinished(1));
        run.closeUnfinished(0);
        unknownFrom(from, "TRACER_UNFINISHED");
    }

    /// Old recorders asked for the last heartbeat of one CPU only.
    @Test
    void theLastHeartbeatMustComeFromEachCpu() throws Exception {
        long from = beat();
        run.heartbeat(0, true);
        run.closeUnfinished(0);
        Verification verification = unknownFrom(from + 2, "TRACER_UNFINISHED");
        assertEquals(
                run.batches.getLast().endIndex() - 2,
                verification.findings().getFirst().index());
    }

    @Test
    void aSilenceIsAnsweredByAHeartbeatOfEachCpu() throws Exception {
        beat();
        find(new FindingDetail.GuestSilent(1));
        find(new FindingDetail.GuestBack(2));
        long from = beat();
        find(new FindingDetail.GuestSilent(3));
        run.heartbeat(0, false);
        run.closeUnfinished(0);
        unknownFrom(from + 2, "GUEST_SILENT", "GUEST_BACK", "TRACER_UNFINISHED");
    }

    @Test
    void aSecondSilenceIsNotAnsweredByTheFirstOnesEnd() throws Exception {
        find(new FindingDetail.GuestSilent(1));
        run.heartbeat(0, true);
        run.heartbeat(1, true);
        long from = run.nextIndex() - 1;
        find(new FindingDetail.GuestBack(2));
        find(new FindingDetail.GuestSilent(3));
        run.closeUnfinished(0);
        unknownFrom(from, "GUEST_SILENT");
    }

    @Test
    void aSilenceThatEndsWithTheLastHeartbeatNeedsNoFinding() throws Exception {
        find(new FindingDetail.GuestSilent(1));
        run.close(0);
        known(Completeness.COMPLETE);
    }

    @Test
    void aTracerThatWasNeverThereLeavesEverythingUnknown() throws Exception {
        run = new TestRun(folder.resolve("absent")).open("absent");
        folder = run.data;
        ready("{\"attached\":[],\"failed\":[],\"absent\":true}");
        run.closeUnfinished(0);
        unknownFrom(2, "TRACER_UNFINISHED");
        run = new TestRun(folder.resolve("none")).open("none");
        folder = run.data;
        run.closeUnfinished(0);
        unknownFrom(0, "TRACER_UNFINISHED");
    }

    @Test
    void aFindingOfALaterVersionIsTakenForOneThatMeansMissing() throws Exception {
        long from = beat();
        add(Kind.RECORDER_FINDING, "OF_A_LATER_VERSION");
        run.close(0);
        unknownFrom(from, "OF_A_LATER_VERSION");
    }

    @Test
    void aLossWithoutItsNumberIsNotZero() throws Exception {
        long from = beat();
        add(Kind.RECORDER_LOSS, "ring");
        run.close(0);
        unknownFrom(from, "LOSS_UNREADABLE");
    }

    /// A guest says of itself how many executions of its probes its kernel skipped.
    @Test
    void lossesBeyondAnyCountAreAtLeastAndNotKnown() throws Exception {
        long from = beat();
        lose(Long.MAX_VALUE, "probe-missed", null);
        long gap = run.nextNumber(0);
        frame(0, gap + 1);
        lose(1, "sequence", "{\"cpu\":0,\"from\":%d,\"to\":%d}".formatted(gap, gap));
        run.close(0);
        unknownFrom(from, "LOSS_BEYOND_COUNT");
    }

    @Test
    void aSumOfLossesNeitherWrapsNorLooksExact() {
        assertEquals(5, Counts.sum(2, 3));
        assertEquals(Long.MAX_VALUE, Counts.sum(Long.MAX_VALUE, 1));
        assertEquals(Long.MAX_VALUE, Counts.sum(1, Long.MAX_VALUE));
        assertEquals(2, Counts.sum(2, Long.MIN_VALUE));
        assertEquals("5", Losses.inWords(5));
        assertEquals("at least 9223372036854775807", Losses.inWords(Long.MAX_VALUE));
    }

    private void add(Kind kind, String what) {
        Row row = new Row().set(Column.KIND, kind.code()).set(Column.AT_NS, run.tick());
        row.set(Column.SOURCE, Source.HOST.code()).set(Column.WHAT, what);
        var leaf = new byte[LeafCodec.size(row)];
        LeafCodec.encode(row, leaf, 0);
        run.addLeaf(leaf);
    }

    /// What is declared lost elsewhere does not stand for numbers that never came.
    @Test
    void theFirstGapThatIsNotDeclaredIsNamed() throws Exception {
        frame(0, 9);
        lose(2, "sequence", "{\"cpu\":0,\"from\":7,\"to\":8}");
        long last = frame(0, 10);
        frame(1, 11);
        frame(0, 13);
        lose(100, "probe-missed", null);
        run.close(0);
        Verification verification = unknownFrom(last + 1, "LOSS_UNDECLARED");
        assertEquals(
                "LOSS_UNDECLARED: the guest's sequence numbers show 4 events missing, but only 2 are declared lost",
                verification.findings().getLast().what());
        assertEquals(last + 1, verification.findings().getLast().index());
    }

    /// A guest that got hold of the stream can number frames of a CPU that it does not have.
    @Test
    void aCpuThatTheTracerDidNotNameMustEndToo() throws Exception {
        beat();
        long first = frame(7, 1);
        run.heartbeat(0, true);
        run.heartbeat(1, true);
        run.closeUnfinished(0);
        unknownFrom(first, "TRACER_UNFINISHED");
    }

    @Test
    void manyFindingsOfOneNameHideNoOther() throws Exception {
        long from = beat();
        for (int i = 0; i < 1_000; i++) {
            find(new FindingDetail.SequenceRepeated(0, 6));
        }
        find(new FindingDetail.TracerUnfinished(0));
        run.closeUnfinished(0);
        Verification verification = unknownFrom(from, "SEQUENCE_REPEATED", "TRACER_UNFINISHED");
        assertTrue(
                verification.findings().stream().anyMatch(each -> each.what().equals("SEQUENCE_REPEATED: 990 more")),
                verification::toString);
        assertTrue(verification.findings().size() < 20, verification::toString);
    }

    @Test
    void theReportSaysFromWhereOn() throws Exception {
        long from = beat();
        find(new FindingDetail.TracerUnfinished(0));
        run.closeUnfinished(0);
        Verification verification = verify();
        var text = new StringWriter();
        VerificationReport.print(new PrintWriter(text), verification);
        assertTrue(text.toString().contains("completeness  UNKNOWN  (from event " + from + " on, "), text::toString);
        assertTrue(text.toString().contains(": TRACER_UNFINISHED: the guest's tracer did not"), text::toString);
    }

    @Test
    void anOpenRunIsKnownUpToItsLastHeartbeatsAndATruncatedOneTo() throws Exception {
        long from = beat();
        run.seal();
        try (var _ = run.lock()) {
            Verification open = verify();
            assertEquals(Completeness.OPEN, open.completeness());
            assertEquals(from, open.unknownFrom());
        }
        Verification truncated = verify();
        assertEquals(Completeness.TRUNCATED, truncated.completeness());
        assertEquals(from, truncated.unknownFrom());
    }

    @Test
    void zeroLostIsSaidOnlyWhereItIsKnown() {
        assertEquals("0 lost", new Losses(0, null, false).inWords());
        assertEquals("7 lost", new Losses(7, null, false).inWords());
        assertEquals("none known to be lost so far", new Losses(0, 9L, true).inWords());
        assertEquals("2 lost so far", new Losses(2, 9L, true).inWords());
        assertEquals("losses not known from event 9 on", new Losses(0, 9L, false).inWords());
        assertEquals("at least 3 lost, not known from event 9 on", new Losses(3, 9L, false).inWords());
        assertFalse(new Losses(0, 9L, false).areNone());
    }
}
