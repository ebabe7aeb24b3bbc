package blackbox.replay.rerun;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.RunReader;
import blackbox.evidence.trust.ReplayNote;
import blackbox.evidence.trust.ReplayNote.Outcome;
import blackbox.node.record.Installation;
import blackbox.node.record.LoopbackServices;
import blackbox.query.run.RunFacts;
import blackbox.recorder.keys.PayloadKeyFile;
import blackbox.replay.ReplayException;
import blackbox.replay.capture.Payload;
import blackbox.replay.compare.EventTape;
import blackbox.replay.divergence.cause.DivergenceClass;
import blackbox.replay.files.FilesAtEnd;
import blackbox.replay.files.FilesMatch;
import blackbox.replay.files.Names;
import blackbox.replay.files.RecordedFiles;
import blackbox.replay.inputs.InputCheck;
import blackbox.replay.inputs.SealedStart;
import blackbox.replay.kept.KeptExecution;
import blackbox.replay.kept.KeptStore;
import blackbox.replay.landing.KeptLanding;
import blackbox.replay.output.ReplayedOutput;
import blackbox.replay.request.Difference;
import blackbox.replay.seek.FrameLookup;
import blackbox.replay.seek.Seeker;
import blackbox.replay.tier.ReplayRequest;
import blackbox.replay.verdict.ClockOffset;
import blackbox.replay.verdict.DifferingOctets;
import blackbox.replay.verdict.FirstDivergence;
import blackbox.replay.verdict.KeptReference;
import blackbox.replay.verdict.Refusal;
import blackbox.replay.verdict.Verdict;
import blackbox.replay.verdict.VerdictStore;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Kind;
import blackbox.schemas.folder.CaptureName;
import blackbox.schemas.folder.DataFolder;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import blackbox.vm.Command;
import blackbox.vm.host.QemuHost;
import blackbox.vm.replay.SteppedMachine;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A run that asked a name server and a web server, executed again when both are gone. The pages that it asks for
/// are in a variable whose value no recording keeps, so that it can be made to ask for others.
class RerunTest {
    /// The guest sets its clock to the recorded time and reads it at once.
    private static final long START_OFFSET_NS_MAX = 50_000_000;

    /// What comes of random numbers: a secret, the order of a set of strings, and reads of more than one block.
    private static final String DRAWS = """

            import secrets, subprocess
            print(secrets.token_hex(16), {"ant", "bee", "cat", "dog", "elk", "fox"}, flush=True)
            subprocess.run("dd if=/dev/urandom bs=60000 count=2 status=none | sha256sum; mktemp -u", shell=True)
            """;

    private static final String PAGES = "/first,/large,/last";

    @TempDir
    static Path folder;

    private static final List<String> SAID = new ArrayList<>();

    private static Recordings recordings;
    private static RunFacts facts;
    private static LoopbackServices.Watched watched;

    @BeforeAll
    static void record() throws Exception {
        var blackbox = Installation.in(folder);
        var services = new LoopbackServices();
        String[] words = {
            "record",
            "--json",
            "--tier",
            "live",
            "--network",
            "user",
            "--env",
            "PAGES=" + PAGES,
            "--env",
            "ZULU=1",
            "--env",
            "ALPHA=2",
            "--env",
            "MIKE=3",
            "--env",
            "BRAVO=4",
            "--",
            "python3",
            "-c",
            services.client() + DRAWS
        };
        Installation.Ended ended = blackbox.run(words).expect(0);
        assertTrue(ended.out().contains("served /first"), ended::out);
        recordings = Recordings.unchecked(blackbox.data());
        facts = RunFacts.read(recordings, new RunId(ended.recorded().path("run").asText()));
        services.close();
        watched = services.watch();
    }

    @AfterAll
    static void nobodyCameToWhereTheServersWere() throws Exception {
        assertEquals(0, watched.heard(), "a replay got out to the host's loopback");
        watched.close();
    }

    private static ReplayRequest request(RerunReplayer replayer) throws Exception {
        SealedStart start = SealedStart.of(facts);
        var check = new InputCheck(recordings, facts.run(), start, null).check(replayer.captures());
        var ready = assertInstanceOf(InputCheck.Ready.class, check, check::toString);
        return new ReplayRequest(recordings, facts, start, ready.inputs());
    }

    /// Five variables, in an order that another JVM's `Map.copyOf` would not keep.
    private static Map<String, String> values(String pages) {
        return Map.of("PAGES", pages, "ZULU", "1", "ALPHA", "2", "MIKE", "3", "BRAVO", "4");
    }

    private static Verdict replay(String pages) throws Exception {
        var replayer = new RerunReplayer(values(pages), OnMiss.END, QemuHost::open, RerunReplayer.Afterwards.DISCARD);
        ReplayRequest request = request(replayer);
        assertEquals(List.of(), replayer.check(request));
        return replayer.replay(request, line -> {
            System.err.println("rerun test: " + line);
            SAID.add(line);
        });
    }

    @Test
    void withoutItsServersItDoesTheSame() throws Exception {
        Verdict verdict = replay(PAGES);
        assertEquals(Outcome.EQUIVALENT, verdict.outcome(), verdict::toString);
        assertTrue(verdict.comparison().events() > 100, verdict::toString);
        assertEquals(0, verdict.comparison().egressPackets());
        ClockOffset clock = Objects.requireNonNull(verdict.comparison().clock());
        assertTrue(Math.abs(clock.startNs()) < START_OFFSET_NS_MAX, clock::toString);
        assertNotNull(clock.endNs());
        assertTrue(Objects.requireNonNull(clock.shared()).events() > 50, clock::toString);
        assertTrue(verdict.comparison().rules().stream().anyMatch(rule -> rule.startsWith("environment: ")));
    }

    /// What the supervisor does between the tracer's start and the agent's is in every run, and is compared: were
    /// another process's number in it, a machine that gives other numbers could never do the same.
    @Test
    void theSupervisorNamesNoOtherProcessByItsNumber() throws Exception {
        var number = Pattern.compile("/proc/(\\d+)(/.*)?");
        try (RunReader reader = RunReader.open(recordings, facts.run(), 0)) {
            boolean started = false;
            while (!started && reader.next()) {
                Row row = reader.row();
                String path = row.has(Column.PATH) ? row.text(Column.PATH).toString() : "";
                Matcher named = number.matcher(path);
                long pid = row.number(Column.PID);
                assertTrue(!named.matches() || named.group(1).equals(Long.toString(pid)), () -> pid + " named " + path);
                started = row.number(Column.KIND) == Kind.PROCESS_EXEC.code();
            }
            assertTrue(started);
        }
    }

    @Test
    void anotherRequestIsNotAnswered() throws Exception {
        SAID.clear();
        Verdict verdict = replay("/first,/other,/last");
        assertEquals(Outcome.DIVERGED, verdict.outcome());
        FirstDivergence divergence = Objects.requireNonNull(verdict.comparison().firstDivergence());
        assertEquals(DivergenceClass.NET_MISS, divergence.kind(), verdict::toString);
        assertTrue(divergence.expected().contains("net.connect"), verdict::toString);
        assertTrue(divergence.actual().contains("net.miss"), verdict::toString);
        assertTrue(String.valueOf(verdict.message()).contains("--go-on"), verdict::toString);
        assertEquals(
                1, SAID.stream().filter(line -> line.startsWith("executing")).count(), "executed once");
        Difference octets = DifferingOctets.REQUEST.of(
                PayloadKeyFile.vault(new DataFolder(recordings.data())),
                verdict.run(),
                new VerdictStore(recordings.data()).keep(verdict).file());
        assertNotNull(octets);
        assertTrue(octets.recorded().contains("/large"), octets::toString);
        assertTrue(octets.replayed().contains("/other"), octets::toString);
        assertFalse(verdict.toString().contains("/other"), "what was asked is in no verdict");
    }

    @Test
    void anExtraRequestIsRefusedAndReported() throws Exception {
        var replayer = new RerunReplayer(
                values(PAGES + ",/more"), OnMiss.GO_ON, QemuHost::open, RerunReplayer.Afterwards.DISCARD);
        ReplayRequest request = request(replayer);
        try (var tape = new EventTape(folder.resolve("tapes"));
                var printed = ReplayedOutput.in(folder.resolve("tapes"))) {
            var rerun = new Rerun(recordings, facts, values(PAGES + ",/more"), OnMiss.GO_ON, QemuHost::open);
            Rerun.Executed executed = rerun.execute(
                    request.inputs().image(),
                    null,
                    request.inputs().captures(),
                    tape,
                    printed,
                    Rerun.Place.NOWHERE,
                    line -> {});
            assertEquals(List.of(), executed.limits());
            assertEquals(3, executed.result().played().connections());
            assertEquals(0, executed.result().played().unusedConnections());
            var exit = executed.result().exit();
            assertEquals(3, exit == null ? null : exit.code(), "the program reports that a page did not arrive");
            List<String> misses = misses(tape);
            assertEquals(1, misses.size(), misses::toString);
            assertTrue(misses.getFirst().startsWith("CONNECT {\"protocol\":\"tcp\",\"remote\":{\"ip\":\"10.0.2.2\""));
            assertTrue(misses.getFirst().contains("all recorded connections to it are used (3)"), misses::toString);
        }
    }

    /// The recorded disk is made from its log of writes, the replay's is the file that its machine leaves.
    @Test
    void itLeavesTheSameFiles() throws Exception {
        ReplayRequest request =
                request(new RerunReplayer(values(PAGES), OnMiss.END, QemuHost::open, RerunReplayer.Afterwards.DISCARD));
        Path disk = folder.resolve("replayed.raw");
        try (var tape = new EventTape(folder.resolve("tapes"));
                var printed = ReplayedOutput.in(folder.resolve("tapes"))) {
            var rerun = new Rerun(recordings, facts, values(PAGES), OnMiss.END, QemuHost::open);
            Rerun.Executed executed = rerun.execute(
                    request.inputs().image(),
                    null,
                    request.inputs().captures(),
                    tape,
                    printed,
                    new Rerun.Place(disk, null),
                    line -> {});
            assertNull(executed.result().diskUnknown());
        }
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(disk)));
        FilesMatch match = filesMatch(disk);
        assertEquals(List.of(), match.differences());
        assertTrue(match.octets() > 300_000 && match.files() > 3, match::toString);
        Path page = Files.writeString(folder.resolve("page"), "served /frist");
        for (String command : List.of("rm page-first", "write " + page + " page-first", "rm page-last")) {
            String there = command.replaceFirst("(\\S+)$", "upper/workspace/$1");
            Command.of("debugfs", "-w", "-R", there, disk.toString()).run();
        }
        match = filesMatch(disk);
        assertEquals(
                List.of(
                        "/workspace/page-first OWNER -1",
                        "/workspace/page-first CONTENT 9",
                        "/workspace/page-last MISSING -1"),
                match.differences().stream()
                        .map(each -> each.path() + " " + each.how() + " " + each.octet())
                        .toList(),
                match::toString);
        whatIsNotAsSealedIsNotCompared();
    }

    private static FilesMatch filesMatch(Path disk) throws Exception {
        var known = assertInstanceOf(RecordedFiles.Known.class, FilesAtEnd.ofRun(recordings, facts));
        try (FilesAtEnd recorded = known.files();
                FilesAtEnd actual = FilesAtEnd.ofImage(disk)) {
            return FilesMatch.of(recorded, actual, Names.NONE);
        }
    }

    private static void whatIsNotAsSealedIsNotCompared() throws Exception {
        Path log = Payload.of(recordings, facts.run(), "blocks").file();
        byte[] whole = Files.readAllBytes(log);
        byte[] changed = whole.clone();
        changed[changed.length / 2] ^= 1;
        Files.write(log, changed);
        ReplayException altered = assertThrows(ReplayException.class, () -> FilesAtEnd.ofRun(recordings, facts));
        assertEquals(ReplayException.Code.ALTERED, altered.code());
        Files.delete(log);
        var unknown = assertInstanceOf(RecordedFiles.Unknown.class, FilesAtEnd.ofRun(recordings, facts));
        assertTrue(unknown.why().contains("blocks"), unknown::why);
        Files.write(log, whole);
    }

    /// What the kernel is about to send there is the recorded event, and the page before it has been printed.
    @Test
    void aKeptReexecutionIsLandedIn() throws Exception {
        Verdict verdict = kept(PAGES);
        assertTrue(verdict.outcome().holds(), verdict::toString);
        KeptLanding landing = landing(verdict);
        long index = indexOf("page-last");
        FrameLookup event = landing.at(index);
        assertEquals(index, event.index());
        Seeker.Paused paused = landing.seeker(line -> {}).seek(event.seq());
        try (SteppedMachine machine = paused.machine()) {
            Map<String, Long> registers = machine.gdb().registers().values();
            long frame = Objects.requireNonNull(registers.get("rsi"));
            int octets = Math.toIntExact(Objects.requireNonNull(registers.get("rdx")));
            String sent = new String(machine.gdb().memory(frame, octets), StandardCharsets.ISO_8859_1);
            assertTrue(sent.contains("page-last"), sent);
            assertFalse(sent.contains("page-large"), sent);
        }
        FrameLookup next = Objects.requireNonNull(landing.behind(index, null));
        assertTrue(next.index() > index && next.seq() != event.seq(), next::toString);
        var data = new DataFolder(recordings.data());
        assertNull(KeptStore.lockAlone(data, facts.run()), "nobody deletes what is landed in");
        landing.close();
        Objects.requireNonNull(KeptStore.lockAlone(data, facts.run())).close();
    }

    /// One that asks for a page that was not recorded agrees up to there; behind it, nothing is landed at.
    @Test
    void whereAKeptReexecutionPartsIsSaid() throws Exception {
        Verdict verdict = kept("/first,/other");
        assertEquals(ReplayNote.Outcome.DIVERGED, verdict.outcome());
        KeptLanding landing = landing(verdict);
        long before = indexOf("page-first");
        assertEquals(before, landing.at(before).index());
        ReplayException parted = assertThrows(ReplayException.class, () -> landing.at(indexOf("page-last")));
        assertEquals(ReplayException.Code.PARTED, parted.code());
        var offer = Pattern.compile("--to (\\d+);").matcher(String.valueOf(parted.getMessage()));
        assertTrue(offer.find(), parted::getMessage);
        long last = Long.parseLong(offer.group(1));
        assertEquals(last, landing.at(last).index());
        assertTrue(last >= before && last < indexOf("page-last"), parted::getMessage);
        assertNull(landing.behind(last, null));
        landing.close();
    }

    private static Verdict kept(String pages) throws Exception {
        var replayer = new RerunReplayer(values(pages), OnMiss.END, QemuHost::open, RerunReplayer.Afterwards.KEEP);
        return replayer.replay(request(replayer), line -> {});
    }

    private static KeptLanding landing(Verdict verdict) throws Exception {
        var store = new KeptStore(recordings, facts.run());
        KeptReference kept = Objects.requireNonNull(verdict.kept());
        KeptExecution execution = store.open(kept);
        var files = new InputCheck.FilesKept(store.folder(kept), () -> store.captures(kept, execution));
        var check = new InputCheck(recordings, facts.run(), execution.start(), null, files)
                .check(CaptureName.texts(CaptureName.EXACT));
        var ready = assertInstanceOf(InputCheck.Ready.class, check, check::toString);
        var use = Objects.requireNonNull(KeptStore.lockShared(new DataFolder(recordings.data()), facts.run()));
        return new KeptLanding(recordings, verdict, execution, ready.inputs(), use);
    }

    /// The index of the first event that opens a file of this name.
    private static long indexOf(String name) throws Exception {
        try (RunReader reader = RunReader.open(recordings, facts.run(), 0)) {
            while (reader.next()) {
                Row row = reader.row();
                if (row.number(Column.KIND) == Kind.FILE_OPEN.code()
                        && row.text(Column.PATH).toString().endsWith("/" + name)) {
                    return reader.index();
                }
            }
        }
        throw new AssertionError("no " + name);
    }

    @Test
    void valuesThatNoRecordingKeepsAreAskedFor() throws Exception {
        var replayer = new RerunReplayer(Map.of(), OnMiss.END, QemuHost::open, RerunReplayer.Afterwards.DISCARD);
        List<Refusal> refusals = replayer.check(request(replayer));
        assertEquals(5, refusals.size());
        assertTrue(refusals.stream().anyMatch(each -> each.what().equals("the environment variable PAGES")));
        assertTrue(refusals.getFirst().mend().contains(" --env ALPHA --env BRAVO --env MIKE --env PAGES --env ZULU "));
    }

    private static List<String> misses(EventTape tape) throws Exception {
        var found = new ArrayList<String>();
        try (EventTape.Cursor cursor = tape.open(0)) {
            while (cursor.next()) {
                Row row = cursor.row();
                if (row.number(Column.KIND) == Kind.NET_MISS.code()) {
                    found.add(row.text(Column.WHAT) + " " + row.text(Column.DETAIL));
                }
            }
        }
        return found;
    }
}
