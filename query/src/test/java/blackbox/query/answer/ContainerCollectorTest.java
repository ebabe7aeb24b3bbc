package blackbox.query.answer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.TestEvents;
import blackbox.evidence.TestRun;
import blackbox.evidence.store.Recordings;
import blackbox.query.answer.ContainerCollector.Containers;
import blackbox.query.answer.ContainerCollector.Part;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.GuestOrigin;
import blackbox.schemas.event.Marks;
import blackbox.schemas.event.ProcessRef;
import blackbox.schemas.event.Source;
import blackbox.schemas.row.Text;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ContainerCollectorTest {

    private static final String BOX = "{\"mountSequence\":5,\"mount\":4026532200}";

    @TempDir
    Path folder;

    private TestRun run;

    @BeforeEach
    void open() throws Exception {
        run = new TestRun(folder).open("containers");
    }

    private EventHeader in(int container, int pid, String comm) {
        ProcessRef process = TestEvents.process(pid, 1, comm);
        return new EventHeader(
                run.tick(),
                Source.GUEST,
                new GuestOrigin(0, run.nextNumber(0), null, null, container),
                process,
                Marks.NONE);
    }

    private void writes(int container, int pid, String path) {
        run.add(new Event.FileIo(in(container, pid, "sh"), Text.of(path), 0, 5, 0, 1, 0L, 5L, null));
    }

    private void executes(int container, int pid, String exe) {
        run.add(new Event.ProcessExec(
                in(container, pid, exe), Text.of(exe), List.of(Text.of(exe)), List.of(), null, 0));
    }

    private void flow(int container, int pid, @Nullable String host, long out) {
        EventHeader header = in(container, pid, "curl");
        run.add(new Event.NetFlow(
                host == null ? header : EventHeader.host(header.atNs()),
                "tcp",
                new Endpoint("10.0.2.15", 40_000),
                new Endpoint("192.0.2.7", 443),
                host == null ? null : Text.of(host),
                out,
                1,
                null,
                null,
                "closed"));
    }

    private Containers containers() throws Exception {
        run.close(0);
        run.table();
        return ContainerCollector.collect(Recordings.unchecked(run.data), run.run, Whose.ALL);
    }

    private static ContainerCollector.Id idOf(Part part) {
        return Objects.requireNonNull(part.id());
    }

    private static List<String> written(Part part) {
        var paths = new ArrayList<String>();
        part.touched().files().forEach(file -> paths.add(file.path().toString()));
        return paths;
    }

    @Test
    void theStepsByWhichARootIsMadeAreOneContainer() throws Exception {
        run.add(new Event.ProcessContainer(in(1, 10, "bwrap"), Text.of("/"), BOX));
        writes(1, 10, "/before");
        run.add(new Event.ProcessContainer(in(2, 10, "bwrap"), Text.of("tmpfs[0:45]/new"), BOX));
        executes(2, 10, "/bin/sh");
        writes(2, 10, "/after");
        // A root of its own in the namespace of the agent's first processes, twice at the same path.
        String jail = "{\"mountSequence\":1,\"mount\":4026531841,\"first\":true,\"chroot\":\"/jail\"}";
        run.add(new Event.ProcessContainer(in(3, 11, "chroot"), Text.of("/jail"), jail));
        writes(3, 11, "/jail/a");
        run.add(new Event.ProcessContainer(in(4, 12, "chroot"), Text.of("/jail"), jail));
        writes(4, 12, "/jail/b");
        writes(0, 13, "/outside");
        List<Part> parts = containers().parts();
        assertEquals(4, parts.size());
        assertNull(parts.get(0).id());
        assertEquals(List.of("/outside"), written(parts.get(0)));
        assertEquals(List.of("/before", "/after"), written(parts.get(1)));
        assertEquals("sh", parts.get(1).program());
        assertEquals("tmpfs[0:45]/new", String.valueOf(idOf(parts.get(1)).root()));
        assertEquals(List.of("/jail/a"), written(parts.get(2)));
        assertEquals(List.of("/jail/b"), written(parts.get(3)));
    }

    /// The agent's first processes may get another root in their own namespace: pivot_root moves everybody.
    @Test
    void anotherRootOfTheFirstNamespaceIsStillOutside() throws Exception {
        run.add(new Event.ProcessContainer(
                in(1, 10, "pivot_root"), Text.of("/new"), "{\"mountSequence\":1,\"mount\":4026531841,\"first\":true}"));
        writes(1, 10, "/new/file");
        List<Part> parts = containers().parts();
        assertEquals(1, parts.size());
        assertEquals(List.of("/new/file"), written(parts.getFirst()));
    }

    @Test
    void whatIsNotKnownIsNotOutside() throws Exception {
        writes(GuestOrigin.CONTAINER_UNKNOWN, 10, "/of-several");
        writes(7, 11, "/not-told");
        Containers containers = containers();
        assertEquals(3, containers.parts().size());
        assertTrue(written(containers.parts().getFirst()).isEmpty());
        assertTrue(idOf(containers.parts().get(1)).isUnknown());
        assertEquals(List.of(7L), idOf(containers.parts().get(2)).numbers());
        assertTrue(
                containers.limits().contains("1 events were done in containers of which nothing else is known"),
                containers::toString);
        assertTrue(
                containers.limits().stream().anyMatch(each -> each.contains("did not say in which container")),
                containers::toString);
    }

    @Test
    void aTracerThatTellsIsNoLimit() throws Exception {
        run.add(new Event.TracerReady(in(0, 1, "python3"), "{\"sources\":{\"container.c\":\"00\"}}"));
        writes(0, 10, "/file");
        assertTrue(containers().limits().stream().noneMatch(each -> each.contains("container")));
    }

    @Test
    void aProcessThatMovesIsSeenToEndInBothPlaces() throws Exception {
        run.add(new Event.ProcessContainer(in(1, 10, "unshare"), Text.of("/"), BOX));
        executes(0, 20, "/usr/bin/python3");
        writes(1, 20, "/boxed");
        run.add(new Event.ProcessExit(in(1, 20, "python3"), 3, null));
        for (Part part : containers().parts()) {
            Touched.ProgramRun python = part.touched().processes().stream()
                    .filter(process -> process.pid() == 20)
                    .findFirst()
                    .orElseThrow();
            assertEquals("/usr/bin/python3", String.valueOf(python.exe()));
            assertEquals(3L, python.end().exitCode());
            assertEquals(part.id() != null, python.moved());
        }
    }

    @Test
    void aFlowIsItsMakersWithWhatTheHostSaw() throws Exception {
        run.add(new Event.ProcessContainer(in(1, 10, "unshare"), Text.of("/"), BOX));
        flow(1, 20, null, 100);
        flow(0, 0, "example.org", 120);
        List<Part> parts = containers().parts();
        assertTrue(parts.get(0).touched().egress().isEmpty(), parts::toString);
        Touched.Flow flow = parts.get(1).touched().egress().getFirst();
        assertEquals("example.org", flow.host());
        assertEquals(120, flow.bytesOut());
    }

    /// Which of them sent what the host saw is not known.
    @Test
    void whatTheHostSawOfTwoContainersIsNeithers() throws Exception {
        run.add(new Event.ProcessContainer(in(1, 10, "unshare"), Text.of("/"), BOX));
        flow(1, 20, null, 100);
        flow(0, 21, null, 30);
        flow(0, 0, "example.org", 140);
        List<Part> parts = containers().parts();
        assertEquals(100, parts.get(1).touched().egress().getFirst().bytesOut());
        List<Long> outside = parts.get(0).touched().egress().stream()
                .map(Touched.Flow::bytesOut)
                .toList();
        assertEquals(List.of(30L, 140L), outside);
    }
}
