package blackbox.replay.divergence.cause;

import blackbox.replay.divergence.align.Edit;
import blackbox.replay.divergence.align.StrandPair;
import blackbox.replay.divergence.cause.RunInputs.Input;
import blackbox.replay.divergence.strand.Deed;
import blackbox.replay.divergence.strand.EventLookup;
import blackbox.replay.divergence.strand.EventLookup.Facts;
import blackbox.replay.divergence.strand.Strand;
import blackbox.replay.divergence.strand.Token;
import blackbox.replay.divergence.text.KeyedHash;
import blackbox.replay.divergence.text.KnownNames;
import blackbox.schemas.net.IpAddress;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Walks back from a divergence to the first input that differs, and names its class. What is inferred rather
/// than seen is marked "likely", with the reason.
///
/// In this order: a gap in a record; image, snapshot and machine, without which nothing else can be compared;
/// the network; command and environment; the workspace and other files; a time in what differs; a race for what
/// the divergence is about; any other visible race; an HTTP answer that differs; random numbers; where no
/// effect differs, another thread of the process that did it. A class is named only where an event supports it;
/// otherwise the divergence is unexplained. A cause is never later than the divergence.
public final class Causes {

    private static final String UNPACKED_BELOW = "/workspace/";
    private static final int CAUSES_MAX = 12;
    private static final Pattern COUNTS = Pattern.compile(" [a-z_]+=-?\\d+");
    /// By how much the guest's clock may be off, and an event be reported late.
    private static final long CLOCK_ERROR_NS = 1_000_000_000L;
    private static final String COMPARED =
            "the image, the machine, the command, the names of environment variables, the"
                    + " workspace, which files were opened and how much was read from them, what the network delivered, and the"
                    + " order in which processes and threads accessed the same files";
    private static final String NOT_RECORDED =
            "values of environment variables, readings of the clock, getrandom(2), and"
                    + " the contents of files and of network traffic";

    /// A flow or an answer that both sides have, but that differs.
    public record NetworkChange(Candidate candidate, Facts expected, Facts actual) {}

    /// What one side shows.
    public record SideEvidence(
            Side side, KnownNames names, EventLookup events, CausalScan scan, CausalHistory history) {}

    /// @param pathOnly whether no effect differs
    public record Evidence(
            Candidate root,
            SideEvidence recorded,
            SideEvidence actual,
            List<NetworkChange> network,
            Collection<StrandPair> divergent,
            boolean pathOnly) {}

    public record Found(DivergenceClass reason, List<String> causes) {}

    private final KeyedHash hash;
    private final Evidence evidence;
    private final SideEvidence recorded;
    private final SideEvidence actual;
    private final boolean exact;
    private final List<String> causes = new ArrayList<>();
    private @Nullable Facts expectedHere;
    private @Nullable Facts actualHere;

    public Causes(KeyedHash hash, Evidence evidence, boolean exact) {
        this.hash = hash;
        this.evidence = evidence;
        this.recorded = evidence.recorded();
        this.actual = evidence.actual();
        this.exact = exact;
    }

    public Found find() throws IOException {
        expectedHere = recorded.events().facts(evidence.root().recordedIndex());
        actualHere = actual.events().facts(evidence.root().actualIndex());
        DivergenceClass reason = gap();
        for (Input input : List.of(Input.IMAGE, Input.SNAPSHOT, Input.QEMU, Input.MACHINE)) {
            reason = or(reason, given(input));
        }
        reason = or(reason, network());
        for (Input input : List.of(Input.COMMAND, Input.SETTING, Input.ENVIRONMENT)) {
            reason = or(reason, given(input));
        }
        reason = reason != null ? reason : workspace();
        reason = reason != null ? reason : file();
        reason = reason != null ? reason : time();
        reason = reason != null ? reason : contention();
        reason = reason != null ? reason : race();
        reason = reason == null || reason == DivergenceClass.NET_DIFF ? or(reason, answer()) : reason;
        reason = reason != null ? reason : random();
        reason = reason != null ? reason : otherThread();
        reason = reason != null ? reason : rest();
        return new Found(reason, causes.subList(0, Math.min(CAUSES_MAX, causes.size())));
    }

    private static @Nullable DivergenceClass or(@Nullable DivergenceClass one, @Nullable DivergenceClass other) {
        return one != null ? one : other;
    }

    private @Nullable DivergenceClass gap() {
        boolean any = false;
        for (SideEvidence side : List.of(recorded, actual)) {
            for (CausalScan.Gap gap : side.scan().gaps()) {
                any = true;
                causes.add(
                        "the record of " + side.side().name() + " is incomplete before this point: event " + gap.index()
                                + " says "
                                + gap.what() + (gap.lost() > 0 ? " (" + gap.lost() + " events)" : "")
                                + "; the divergence may be only in the record");
            }
        }
        return any ? DivergenceClass.RECORDER_GAP : null;
    }

    private @Nullable DivergenceClass given(Input input) {
        RunInputs one = recorded.side().inputs();
        RunInputs other = actual.side().inputs();
        if (!one.differs(other, input)) {
            return null;
        }
        causes.add("the " + input.words() + " differs: " + brief(one.of(input)) + " in "
                + recorded.side().name() + ", " + brief(other.of(input)) + " in "
                + actual.side().name());
        return input.divergenceClass();
    }

    private static String brief(@Nullable String value) {
        String text = String.valueOf(value);
        return text.length() <= 80 ? text : text.substring(0, 79) + "…";
    }

    private @Nullable DivergenceClass network() throws IOException {
        DivergenceClass reason = miss();
        for (NetworkChange change : evidence.network()) {
            boolean led = (recorded.history().divergences() & change.candidate().bit()) != 0
                    || (actual.history().divergences() & change.candidate().bit()) != 0
                    || change.candidate().bit() == evidence.root().bit();
            boolean named = change.candidate().strand().sort() == Strand.Sort.DNS
                    && isUsed(change.candidate().recordedIndex(), recorded)
                    && isUsed(change.candidate().actualIndex(), actual);
            if (led || named) {
                reason = or(reason, changed(change));
            }
        }
        return or(reason, connection());
    }

    /// An HTTP answer that both sides were given, and that differs, where the network was used on the way to the
    /// divergence.
    private @Nullable DivergenceClass answer() {
        Facts was = expectedHere;
        Facts is = actualHere;
        if (recorded.history().network() < 0 || actual.history().network() < 0) {
            return null;
        }
        HttpAnswers.Changed changed = recorded.scan()
                .answers()
                .lastChanged(
                        actual.scan().answers(),
                        was == null ? Long.MAX_VALUE : was.atNs(),
                        is == null ? Long.MAX_VALUE : is.atNs());
        if (changed == null) {
            return null;
        }
        causes.add("likely the answer to " + changed.request() + ", the last one before it that differs: "
                + changed.actual() + " instead of " + changed.expected() + ": event " + changed.index() + " in "
                + recorded.side().name() + ", event " + changed.actualIndex() + " in "
                + actual.side().name()
                + (changed.askedAlike() ? "" : "; the requests differ, too")
                + (changed.earlier() == 0 ? "" : "; so do " + changed.earlier() + " answers before"));
        return DivergenceClass.NET_DIFF;
    }

    /// Whether the network was used on the way to the divergence after the answer at `index`.
    private static boolean isUsed(long index, SideEvidence side) {
        return index >= 0 && index <= side.history().network();
    }

    private DivergenceClass changed(NetworkChange change) {
        Facts was = change.expected();
        Facts is = change.actual();
        if (!(was.deed() instanceof Deed.Flowed before) || !(is.deed() instanceof Deed.Flowed now)) {
            causes.add("a DNS question was answered differently: " + was.line() + " / " + is.line());
            return DivergenceClass.NET_DIFF;
        }
        boolean silent = now.bytesIn() == 0 && before.bytesIn() > 0;
        causes.add("the flow to " + before.peer() + " delivered " + now.bytesIn() + " bytes (" + now.ending()
                + ") instead of " + before.bytesIn() + " (" + before.ending() + "): event "
                + eventOf(change.candidate().recordedIndex()) + " in "
                + recorded.side().name() + ", event "
                + eventOf(change.candidate().actualIndex()) + " in "
                + actual.side().name()
                + (silent ? "; nobody answered" : ""));
        return silent ? DivergenceClass.NET_MISS : DivergenceClass.NET_DIFF;
    }

    private static String eventOf(long index) {
        return index < 0 ? "?" : Long.toString(index);
    }

    /// An unanswered request before the divergence, or the divergence itself. The host reports one at once, but
    /// the guest's events arrive some time after they happened: it is the cause only if it is earlier both in the
    /// record and in time.
    private @Nullable DivergenceClass miss() throws IOException {
        long here = evidence.root().actualIndex();
        Facts at = actualHere;
        for (long index : actual.scan().misses()) {
            Facts facts = actual.events().facts(index);
            if (facts != null && (here < 0 || index <= here) && (at == null || facts.atNs() <= at.atNs())) {
                causes.add("the recording has no answer to a request to the network: " + facts.line());
                return DivergenceClass.NET_MISS;
            }
        }
        return null;
    }

    /// A call to a peer that ended differently.
    private @Nullable DivergenceClass connection() {
        Facts was = expectedHere;
        Facts is = actualHere;
        if (was == null
                || is == null
                || was.kind() != is.kind()
                || !(was.deed() instanceof Deed.Called before)
                || !(is.deed() instanceof Deed.Called now)) {
            return null;
        }
        Deed.Peer peer = before.peer();
        Deed.Peer other = now.peer();
        if (peer == null
                || other == null
                || !peer.ip().equals(other.ip())
                || before.ret() == now.ret()
                || IpAddress.isLoopback(peer.ip())) { // nothing of it is the network's
            return null;
        }
        causes.add("the call to " + peer + " returned " + now.ret() + " instead of " + before.ret());
        return now.ret() < 0 ? DivergenceClass.NET_MISS : DivergenceClass.NET_DIFF;
    }

    /// The workspace as it was unpacked, or a file of it that was read before.
    private @Nullable DivergenceClass workspace() {
        if (!recorded.side().inputs().differs(actual.side().inputs(), Input.WORKSPACE)) {
            return null;
        }
        Facts here = expectedHere != null ? expectedHere : actualHere;
        String path = here == null ? null : here.path();
        if (here != null && path != null && path.startsWith(UNPACKED_BELOW) && "tar".equals(here.comm())) {
            given(Input.WORKSPACE);
            causes.add("the file " + path + " of the workspace already differs when it is unpacked");
            return DivergenceClass.IMAGE;
        }
        List<CausalHistory.FileRead> read = recorded.history().and(actual.history()).files().stream()
                .filter(file -> file.path().startsWith(UNPACKED_BELOW))
                .toList();
        if (read.isEmpty()) {
            causes.add("the workspaces differ, but no read of their files was seen before the divergence");
            return null;
        }
        given(Input.WORKSPACE);
        for (CausalHistory.FileRead file : read) {
            causes.add((read.size() == 1 ? "the only file of it" : "a file of it") + " that was read before is "
                    + file.path() + " (event " + file.index() + "); it likely differs, but contents are not recorded");
        }
        return DivergenceClass.IMAGE;
    }

    /// A file that nothing in the run wrote, and that exists on one side only or was read with a different
    /// length.
    private @Nullable DivergenceClass file() {
        Facts was = expectedHere;
        Facts is = actualHere;
        if (was == null
                || is == null
                || was.kind() != is.kind()
                || evidence.root().edit().expected().isEmpty()) {
            return null;
        }
        String path = was.path();
        if (path == null || !path.equals(is.path()) || isWritten(path)) {
            return null;
        }
        if (was.deed() instanceof Deed.Opened before
                && is.deed() instanceof Deed.Opened now
                && before.failed() != now.failed()) {
            causes.add("the file " + path + " could be opened on only one side, and nothing in the runs wrote it");
            return DivergenceClass.IMAGE;
        }
        if (was.deed() instanceof Deed.Transferred before
                && is.deed() instanceof Deed.Transferred now
                && before.bytesWritten() == 0
                && now.bytesWritten() == 0
                && before.bytesRead() != now.bytesRead()) {
            causes.add("the file " + path + " gave " + now.bytesRead() + " bytes instead of " + before.bytesRead()
                    + ", and nothing in the runs wrote it");
            return DivergenceClass.IMAGE;
        }
        return null;
    }

    private boolean isWritten(String path) {
        return recorded.scan().isWritten(path) || actual.scan().isWritten(path);
    }

    /// A name, a port or a pipe for which two programs raced, where the divergence is what one of them got.
    private @Nullable DivergenceClass contention() throws IOException {
        Contention.Race race = exact
                ? null
                : new Contention(recorded, actual)
                        .find(evidence.root().recordedIndex(), evidence.root().actualIndex());
        if (race == null) {
            return null;
        }
        causes.add(race.words());
        return DivergenceClass.SCHED;
    }

    private @Nullable DivergenceClass race() throws IOException {
        AccessLog.Race race = findRace();
        if (race == null
                || race.shared() != AccessLog.Shared.FILE && recorded.history().isDrawnLast()) {
            return null;
        }
        String waited = race.shared() == AccessLog.Shared.CHILDREN ? "; " + who() + " waited for them" : "";
        causes.add(race.inWords(recorded.events()) + waited);
        return DivergenceClass.SCHED;
    }

    /// Something that both sides did, but in two threads of the process: which of a pool's takes a task is a race.
    /// Asked only where no effect differs, for it does not say what else the threads did.
    private @Nullable DivergenceClass otherThread() throws IOException {
        StrandPair here = evidence.root().pair();
        Edit edit = evidence.root().edit();
        boolean missing = !edit.expected().isEmpty();
        Token one = missing ? edit.expected().getFirst() : edit.actual().getFirst();
        if (exact || !evidence.pathOnly() || !isThread(here) || one.sort() == Token.Sort.PROCESS_END) {
            return null;
        }
        Token other = same(
                one,
                missing,
                pair -> pair != here
                        && isThread(pair)
                        && pair.strand().process() == here.strand().process());
        if (other == null) {
            return null;
        }
        causes.add("two threads of " + who() + " took turns otherwise, and what one of them did in "
                + recorded.side().name() + " the other one did in "
                + actual.side().name() + ": "
                + line(recorded, missing ? one : other) + " / " + line(actual, missing ? other : one));
        return DivergenceClass.SCHED;
    }

    /// What the other side has that is the same, of the strands that differ; null if there is none.
    ///
    /// @param isRecorded whether `one` is of the recorded side
    private @Nullable Token same(Token one, boolean isRecorded, Predicate<StrandPair> where) {
        return evidence.divergent().stream()
                .filter(where)
                .flatMap(pair -> pair.edits().stream())
                .flatMap(each -> (isRecorded ? each.actual() : each.expected()).stream())
                .filter(token -> token.canon() == one.canon()
                        && token.volume() == one.volume()
                        && token.subject() == one.subject())
                .findFirst()
                .orElse(null);
    }

    /// Says it if both sides did this, one after the other, only not in the same order.
    private void order() throws IOException {
        Edit edit = evidence.root().edit();
        boolean isRecorded = !edit.expected().isEmpty();
        Token one = isRecorded ? edit.expected().getFirst() : edit.actual().getFirst();
        Token other = same(one, isRecorded, pair -> pair == evidence.root().pair());
        if (other != null) {
            causes.add("both sides did it, in another order: " + line(recorded, isRecorded ? one : other) + " / "
                    + line(actual, isRecorded ? other : one));
        }
    }

    /// Whether it is of a thread of a process, or of a process's first one.
    private static boolean isThread(StrandPair pair) {
        Strand.Sort sort = pair.strand().sort();
        return (sort == Strand.Sort.THREAD || sort == Strand.Sort.PROCESS)
                && pair.strand().process() != 0;
    }

    private static String line(SideEvidence side, Token token) throws IOException {
        Facts facts = side.events().facts(token.index());
        return facts == null ? "?" : facts.line();
    }

    private AccessLog.@Nullable Race findRace() throws IOException {
        Candidate root = evidence.root();
        long until = root.recordedIndex() >= 0 ? root.recordedIndex() : root.place() + 1;
        long untilActual = root.actualIndex() >= 0 ? root.actualIndex() : Long.MAX_VALUE;
        AccessLog mine = AccessLog.read(hash, recorded.names(), recorded.side().events(), until);
        AccessLog theirs = AccessLog.read(hash, actual.names(), actual.side().events(), untilActual);
        return mine.race(theirs, root.strand().process(), root.strand().parent());
    }

    /// The clock, where what differs is a time of its own run on either side, and nothing else.
    private @Nullable DivergenceClass time() throws IOException {
        String was = exact ? null : written(recorded, expectedHere);
        String is = was == null ? null : written(actual, actualHere);
        if (was == null || is == null || was.equals(is) || !isAllElse(was, is)) {
            return null;
        }
        causes.add("what differs contains a time, on each side one of its own run: " + was + " in "
                + recorded.side().name() + ", " + is + " in " + actual.side().name());
        return DivergenceClass.CLOCK;
    }

    /// Whether the two say the same but for these times.
    private boolean isAllElse(String was, String is) {
        String one = said(expectedHere).replace(was, "");
        return one.equals(said(actualHere).replace(is, ""));
    }

    /// Names and arguments of an event, without what was counted.
    private static String said(@Nullable Facts facts) {
        return facts == null ? "" : COUNTS.matcher(facts.said()).replaceAll("");
    }

    /// The time in an event's names and arguments, if it is between the run's beginning and the event.
    private static @Nullable String written(SideEvidence side, @Nullable Facts here) throws IOException {
        Facts first = side.events().facts(0);
        return here == null || first == null
                ? null
                : WrittenTime.in(said(here), first.atNs() - CLOCK_ERROR_NS, here.atNs() + CLOCK_ERROR_NS);
    }

    /// Random numbers, where one reached what differs: it came from another process, and nothing else came in
    /// after it; or numbers were read, and what differs is written as such. That some were read before shows
    /// nothing.
    private @Nullable DivergenceClass random() throws IOException {
        if (exact || recorded.history().random() < 0 || actual.history().random() < 0) {
            return null;
        }
        boolean last = recorded.history().isDrawnLast() && actual.history().isDrawnLast();
        boolean written = DrawnValue.differsIn(said(expectedHere), said(actualHere));
        if (!last && !written) {
            return null;
        }
        causes.add("likely a random number, used before: "
                + line(recorded.history().random())
                + (written
                        ? "; what differs is a value of a form in which random numbers are written"
                        : "; nothing else came in after it, on the way to the divergence"));
        return DivergenceClass.RANDOM;
    }

    private String line(long index) throws IOException {
        Facts facts = recorded.events().facts(index);
        return facts == null ? "?" : facts.line();
    }

    private DivergenceClass rest() throws IOException {
        if (exact) {
            causes.add("the replay should have been exact and no input differs: the engine did not reproduce the run");
            return DivergenceClass.ENGINE;
        }
        causes.add("nothing that was recorded explains it; this was compared: " + COMPARED);
        order();
        for (long used :
                new long[] {recorded.history().clock(), recorded.history().random()}) {
            if (used >= 0) {
                causes.add("used before: " + line(used) + "; nothing shows that it made the difference");
            }
        }
        if (evidence.root().strand().sort() == Strand.Sort.THREAD) {
            causes.add("it is in one of several threads of " + who()
                    + ": a race over memory that they share leaves no event, so it cannot be excluded");
        }
        causes.add("not recorded, and so not excluded: " + NOT_RECORDED + "; a run recorded with --tier exact has them"
                + " all, and its replay can be stopped at this point");
        return DivergenceClass.UNEXPLAINED;
    }

    private String who() {
        Facts here = expectedHere != null ? expectedHere : actualHere;
        return here == null ? "the process" : here.who();
    }
}
