package blackbox.query.brief;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.TestEvents;
import blackbox.evidence.TestRun;
import blackbox.evidence.store.Recordings;
import blackbox.query.brief.FileChange.Net;
import blackbox.schemas.event.Actor;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.GuestOrigin;
import blackbox.schemas.event.Kind;
import blackbox.schemas.event.Marks;
import blackbox.schemas.event.Source;
import blackbox.schemas.row.Text;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What an auditor is shown first: the agent's acts and not the supervisor's, one screen whatever the run did, and
/// nothing left out without a count.
class BriefTest {

    private static final int SUPERVISOR = 50;
    private static final int AGENT = 100;

    @TempDir
    Path folder;

    private TestRun run;
    private long sequence;

    @BeforeEach
    void unpackTheWorkspace() throws Exception {
        run = new TestRun(folder);
        run.open("build");
        run.add(new Event.TracerReady(EventHeader.host(run.tick()), "{\"attached\":[\"exec\"],\"failed\":[]}"));
        exec(SUPERVISOR, Actor.SUPERVISOR, "/usr/bin/tar", "/");
        created(SUPERVISOR, Actor.SUPERVISOR, "/workspace/main.c");
        created(SUPERVISOR, Actor.SUPERVISOR, "/workspace/old.txt");
        created(SUPERVISOR, Actor.SUPERVISOR, "/workspace/untouched");
        exec(AGENT, Actor.AGENT, "/usr/bin/bash", "/workspace");
    }

    private EventHeader header(int pid, @Nullable Actor actor) {
        var origin = new GuestOrigin(0, ++sequence, actor);
        return new EventHeader(run.tick(), Source.GUEST, origin, TestEvents.process(pid, 1, "task"), Marks.NONE);
    }

    private void exec(int pid, @Nullable Actor actor, String exe, String cwd) {
        run.add(new Event.ProcessExec(
                header(pid, actor), Text.of(exe), List.of(Text.of("x")), List.of(), Text.of(cwd), 0));
    }

    private void created(int pid, @Nullable Actor actor, String path) {
        run.add(new Event.FileOpen(header(pid, actor), Text.of(path), 0x241, 0644, true, 3));
        run.add(new Event.FileIo(header(pid, actor), Text.of(path), 0, 10, 0, 1, 0L, 10L, null));
    }

    private void written(String path) {
        run.add(new Event.FileIo(header(AGENT, Actor.AGENT), Text.of(path), 0, 5, 0, 1, 0L, 5L, null));
    }

    private void change(Kind kind, String path, @Nullable String to) {
        Text target = to == null ? null : Text.of(to);
        run.add(new Event.FileChange(
                header(AGENT, Actor.AGENT), kind, Text.of(path), target, null, null, null, null, 0));
    }

    /// renameat2 with RENAME_EXCHANGE.
    private void exchanged(String path, String other) {
        run.add(new Event.FileChange(
                header(AGENT, Actor.AGENT), Kind.FILE_RENAME, Text.of(path), Text.of(other), null, null, null, 2L, 0));
    }

    private void opened(String path, int flags, long ret) {
        run.add(new Event.FileOpen(header(AGENT, Actor.AGENT), Text.of(path), flags, null, false, ret));
    }

    private Brief brief() throws Exception {
        run.seal();
        run.close(0);
        run.table();
        return TouchedInBrief.collect(Recordings.unchecked(folder), run.run).brief();
    }

    private static String statuses(Brief brief) {
        return brief.changes().stream()
                .map(each -> each.net().letter() + " " + each.path())
                .collect(Collectors.joining("\n"));
    }

    @Test
    void whatTheSupervisorUnpackedWasThereBefore() throws Exception {
        written("/workspace/main.c");
        change(Kind.FILE_UNLINK, "/workspace/old.txt", null);
        created(AGENT, Actor.AGENT, "/workspace/new.o");
        created(AGENT, Actor.AGENT, "/workspace/tmp");
        change(Kind.FILE_UNLINK, "/workspace/tmp", null);
        assertEquals(
                "M /workspace/main.c\nA /workspace/new.o\nD /workspace/old.txt\nT /workspace/tmp", statuses(brief()));
    }

    @Test
    void aFileThatIsReplacedByRenamingIsModifiedAndOneThatMovesKeepsWhatItWas() throws Exception {
        created(AGENT, Actor.AGENT, "/workspace/sedX1");
        change(Kind.FILE_RENAME, "/workspace/sedX1", "/workspace/main.c");
        change(Kind.FILE_RENAME, "/workspace/old.txt", "/workspace/new.txt");
        Brief brief = brief();
        assertEquals(
                "M /workspace/main.c\nA /workspace/new.txt\nD /workspace/old.txt\nT /workspace/sedX1", statuses(brief));
        assertEquals("/workspace/old.txt", brief.changes().get(1).was());
        assertEquals("bash", brief.changes().getFirst().by());
        assertEquals(10, brief.changes().getFirst().bytesWritten());
    }

    @Test
    void whatLiesInARenamedFolderMovesWithIt() throws Exception {
        change(Kind.FILE_MKDIR, "/workspace/a", null);
        created(AGENT, Actor.AGENT, "/workspace/a/x");
        created(AGENT, Actor.AGENT, "/workspace/a.txt");
        change(Kind.FILE_RENAME, "/workspace/a", "/workspace/b");
        Brief brief = brief();
        assertEquals("T /workspace/a/x\nA /workspace/a.txt\nA /workspace/b/x", sorted(statuses(brief)));
        assertEquals(2, brief.foldersChanged());
    }

    @Test
    void filesThatAreExchangedAreBothThereUnderTheOthersName() throws Exception {
        created(AGENT, Actor.AGENT, "/tmp/evil");
        exchanged("/tmp/evil", "/workspace/main.c");
        Brief brief = brief();
        assertEquals("A /tmp/evil\nM /workspace/main.c", sorted(statuses(brief)));
        for (FileChange each : brief.changes()) {
            boolean aside = each.path().equals("/tmp/evil");
            assertEquals(aside ? "/workspace/main.c" : null, each.was(), each::path);
            assertEquals(aside ? 0 : 10, each.bytesWritten(), each::path);
        }
    }

    @Test
    void whatLiesInExchangedFoldersMovesWithThem() throws Exception {
        change(Kind.FILE_MKDIR, "/workspace/a", null);
        created(AGENT, Actor.AGENT, "/workspace/a/x");
        change(Kind.FILE_MKDIR, "/workspace/b", null);
        created(AGENT, Actor.AGENT, "/workspace/b/y");
        exchanged("/workspace/a", "/workspace/b");
        assertEquals("A /workspace/a/y\nA /workspace/b/x\nT /workspace/a/x\nT /workspace/b/y", sortedByStatus(brief()));
    }

    private static String sortedByStatus(Brief brief) {
        return statuses(brief).lines().sorted().collect(Collectors.joining("\n"));
    }

    private static String sorted(String lines) {
        return lines.lines()
                .sorted((a, b) -> a.substring(2)
                        .replace('.', '~')
                        .compareTo(b.substring(2).replace('.', '~')))
                .collect(Collectors.joining("\n"));
    }

    @Test
    void nobodyKnowsWhetherAFileOutsideTheWorkspaceWasThere() throws Exception {
        created(AGENT, Actor.AGENT, "/home/agent/.x1");
        change(Kind.FILE_RENAME, "/home/agent/.x1", "/home/agent/.profile");
        assertTrue(statuses(brief()).contains("W /home/agent/.profile"));
    }

    @Test
    void whatWasRefusedComesFirstWithItsWholeName() throws Exception {
        exec(AGENT, Actor.AGENT, "/usr/bin/cat", "/home/agent");
        opened("/home/agent/.ssh/id_ed25519", 0, 3);
        opened("/etc/shadow", 0, -13);
        opened("secret", 0, -1);
        opened("/nowhere", 0, -2);
        run.add(new Event.PrivilegeUse(header(AGENT, Actor.AGENT), "mount", Text.of("/mnt"), null, 0));
        List<String> lines = BriefText.lines(brief());
        assertEquals("NOTABLE   refused   read /etc/shadow  by cat (100)  EACCES", lines.get(1));
        assertEquals("          refused   read /home/agent/secret  by cat (100)  EPERM", lines.get(2));
        assertEquals("          secret    read /home/agent/.ssh/id_ed25519  by cat (100)", lines.get(3));
        assertEquals("          privilege mount /mnt  by task", lines.get(4));
        assertTrue(lines.stream().noneMatch(line -> line.contains("/nowhere")));
    }

    /// An agent can have as much refused as it likes.
    @Test
    void whatWasRefusedPushesNoSecretOffTheScreen() throws Exception {
        for (int i = 0; i < 20; i++) {
            opened("/root/" + i, 0, -13);
        }
        opened("/home/agent/.ssh/id_ed25519", 0, 3);
        List<String> lines = BriefText.lines(brief());
        assertTrue(
                lines.stream().anyMatch(line -> line.contains("secret    read /home/agent/.ssh/id_ed25519")),
                lines::toString);
        assertTrue(lines.stream().anyMatch(line -> line.contains("refused   read /root/0")), lines::toString);
    }

    @Test
    void theKernelsFilesComeFirstThenWhatLiesOutsideTheWorkspaceAndOwnFoldersAreCounted() throws Exception {
        written("/workspace/main.c");
        written("/tmp/x");
        written("/etc/x");
        written("/proc/sys/kernel/core_pattern");
        written("/dev/null");
        created(AGENT, Actor.AGENT, "/workspace/.git/index");
        created(AGENT, Actor.AGENT, "/workspace/.git/objects/a");
        Brief brief = brief();
        assertEquals(
                List.of("/proc/sys/kernel/core_pattern", "/etc/x", "/tmp/x", "/workspace/main.c"),
                brief.changes().stream().map(FileChange::path).limit(4).toList());
        List<String> lines = BriefText.lines(brief);
        assertTrue(lines.contains("CHANGED   files: 2 added, 4 modified, 0 deleted, 0 temporary"), lines::toString);
        assertTrue(lines.contains("          . 2 paths in 1 .git"), lines::toString);
        assertTrue(lines.stream().noneMatch(line -> line.contains("/dev/null")));
    }

    @Test
    void networkIsNamedWithTheProgramThatUsedIt() throws Exception {
        exec(AGENT, Actor.AGENT, "/usr/bin/curl", "/workspace");
        var local = new Endpoint("10.0.2.15", 40000);
        var remote = new Endpoint("10.0.2.2", 8080);
        for (int i = 0; i < 2; i++) {
            run.add(new Event.NetFlow(
                    header(AGENT, Actor.AGENT),
                    "tcp",
                    new Endpoint("10.0.2.15", 40000 + i),
                    remote,
                    null,
                    235,
                    95,
                    null,
                    null,
                    null));
        }
        run.add(new Event.NetFlow(
                EventHeader.host(run.tick()), "tcp", local, remote, null, 235, 95, null, null, "fin"));
        assertTrue(BriefText.lines(brief()).contains("NETWORK   10.0.2.2:8080 tcp  by curl  ×2  470 out, 190 in"));
    }

    @Test
    void eventsAreCountedByWhoseActTheyAre() throws Exception {
        Brief.Events events = brief().events();
        assertEquals(1, events.agent());
        assertEquals(8, events.supervisor());
        assertTrue(events.host() > 0);
    }

    @Test
    void whoseActAnEventIsCountsAsTheAgentsIfNobodyKnows() throws Exception {
        exec(AGENT, null, "/usr/bin/dd", "/");
        created(AGENT, null, "/etc/cron.d/x");
        Brief brief = brief();
        assertEquals("A /etc/cron.d/x", statuses(brief));
        assertTrue(brief.programs().containsKey("dd"));
        assertFalse(brief.programs().containsKey("tar"));
    }

    @Test
    void aRunThatDidALotFitsOnAScreenAndCountsTheRest() throws Exception {
        for (int i = 0; i < 3_000; i++) {
            exec(AGENT + i, Actor.AGENT, "/usr/bin/p" + i, "/");
            created(AGENT, Actor.AGENT, "/workspace/" + "d".repeat(i % 200) + i);
            created(AGENT, Actor.AGENT, "/workspace/.git/" + i);
            created(AGENT, Actor.AGENT, "/workspace/node_modules/" + i);
            opened("/etc/" + "e".repeat(i % 200) + i, 0, -13);
            run.add(new Event.FileIo(header(AGENT, Actor.AGENT), Text.of("/etc/r" + i), 10, 0, 1, 0, 0L, 10L, null));
            var remote = new Endpoint("10.0.2.2", 1 + i);
            run.add(new Event.NetFlow(EventHeader.host(run.tick()), "tcp", null, remote, null, 1, 2, null, null, "x"));
            run.add(new Event.RecorderLoss(EventHeader.host(run.tick()), 7, "ring" + i, null));
        }
        Brief brief = brief();
        List<String> lines = BriefText.lines(brief);
        assertTrue(lines.size() <= BriefText.LINES_MAX, () -> lines.size() + " lines");
        assertTrue(lines.stream().allMatch(line -> line.length() <= 110), lines::toString);
        assertEquals(9_000, brief.count(Net.ADDED));
        assertTrue(lines.contains("          and 2996 more (--all)"), lines::toString);
        assertTrue(lines.contains("          and 2995 more (--all)"), lines::toString);
        assertTrue(lines.contains("          and 2997 more (--all)"), lines::toString);
    }

    @Test
    void whatTheGuestNamedCannotMoveTheCursor() throws Exception {
        exec(AGENT, Actor.AGENT, "/tmp/\u001b[2Jx\ny", "/");
        created(AGENT, Actor.AGENT, "/tmp/\u001b[2Jx\ny");
        opened("/tmp/\u001b[2Jz", 0, -13);
        assertTrue(
                BriefText.lines(brief()).stream().noneMatch(line -> line.chars().anyMatch(c -> c < ' ')));
    }
}
