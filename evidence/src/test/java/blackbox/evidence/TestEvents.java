package blackbox.evidence;

import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.GuestOrigin;
import blackbox.schemas.event.Kind;
import blackbox.schemas.event.Marks;
import blackbox.schemas.event.ProcessRef;
import blackbox.schemas.event.Source;
import blackbox.schemas.row.Text;
import java.util.List;
import java.util.Map;

/// Events of a small build, as the tracer and the host would report them.
public final class TestEvents {

    private final TestRun run;

    public TestEvents(TestRun run) {
        this.run = run;
    }

    public static ProcessRef process(int pid, int ppid, String comm) {
        return new ProcessRef(pid, pid, ppid, 1_000_000L * pid, Text.of(comm), 1000);
    }

    public EventHeader guest(int pid, int ppid, String comm) {
        return guest(pid, ppid, comm, Marks.NONE);
    }

    public EventHeader guest(int pid, int ppid, String comm, Marks marks) {
        return new EventHeader(
                run.tick(), Source.GUEST, new GuestOrigin(0, run.nextNumber(0)), process(pid, ppid, comm), marks);
    }

    /// A run that touches a bit of everything, sealed in `batches` batches and closed.
    public static TestRun smallBuild(TestRun run, int batches) {
        var events = new TestEvents(run);
        run.open("build");
        run.add(new Event.TracerReady(EventHeader.host(run.tick()), "{\"attached\":[\"exec\"],\"failed\":[]}"));
        for (int batch = 0; batch < batches; batch++) {
            events.compile(100 + 10 * batch, "/workspace/file" + batch + ".o");
            run.seal();
        }
        events.network();
        run.close(0);
        return run;
    }

    public void compile(int pid, String object) {
        run.add(new Event.ProcessFork(guest(pid, 1, "make"), 1_000_000L));
        run.add(new Event.ProcessExec(
                guest(pid, 1, "cc"),
                Text.of("/usr/bin/cc"),
                List.of(Text.of("cc"), Text.of("-o"), Text.of(object), Text.of("")),
                List.of(Text.of("PATH"), Text.of("HOME")),
                Text.of("/workspace"),
                0));
        run.add(new Event.FileOpen(guest(pid, 1, "cc"), Text.of("/workspace/main.c"), 0, null, false, 3));
        run.add(new Event.FileIo(guest(pid, 1, "cc"), Text.of("/workspace/main.c"), 4096, 0, 2, 0, 0L, 4096L, null));
        run.add(new Event.FileOpen(guest(pid, 1, "cc"), Text.of(object), 0x241, 0644, true, 4));
        run.add(new Event.FileIo(guest(pid, 1, "cc"), Text.of(object), 0, 1000, 0, 1, 0L, 1000L, null));
        run.add(new Event.FileOpen(guest(pid, 1, "cc"), Text.of("/etc/shadow"), 0, null, false, -13));
        run.add(new Event.FileChange(
                guest(pid, 1, "cc"),
                Kind.FILE_RENAME,
                Text.of(object),
                Text.of(object + "bj"),
                null,
                null,
                null,
                null,
                0));
        run.add(new Event.ProcessExit(guest(pid, 1, "cc"), 0, null));
    }

    public void network() {
        var local = new Endpoint("10.0.2.15", 40000);
        var remote = new Endpoint("93.184.216.34", 443);
        run.add(new Event.DnsQuery(
                EventHeader.host(run.tick()),
                Text.of("example.org"),
                1,
                List.of(Text.of("93.184.216.34")),
                "udp",
                local,
                new Endpoint("10.0.2.3", 53)));
        run.add(new Event.NetCall(guest(300, 1, "curl"), Kind.NET_CONNECT, "tcp", null, remote, null, -115));
        run.add(new Event.NetCall(
                guest(300, 1, "curl"), Kind.NET_CONNECT, "tcp", null, new Endpoint("192.0.2.1", 80), null, -101));
        run.add(new Event.NetFlow(guest(300, 1, "curl"), "tcp", local, remote, null, 500, 9000, null, null, null));
        run.add(new Event.NetFlow(
                EventHeader.host(run.tick()),
                "tcp",
                local,
                remote,
                Text.of("example.org"),
                500,
                9000,
                10L,
                12L,
                "fin"));
        run.add(new Event.NetFlow(EventHeader.host(run.tick()), "arp", null, null, null, 28, 28, 1L, 1L, null));
        run.add(new Event.CredChange(guest(300, 1, "sudo"), 1000, 0, 1000, 0, 0L, 0x200000L));
        run.add(new Event.PrivilegeUse(guest(300, 1, "sudo"), "mount", Text.of("/mnt"), null, -1));
        run.add(new Event.ProcessExec(
                guest(301, 300, "odd", new Marks(Map.of("env", 8192L), List.of("cwd"))),
                Text.copyOf(new byte[] {'/', (byte) 0xff, '\n'}, 0, 3),
                List.of(Text.copyOf(new byte[] {(byte) 0xc3, 0x28}, 0, 2), Text.of("\u001b[31m")),
                List.of(),
                null,
                0));
        run.add(new Event.RecorderLoss(EventHeader.host(run.tick()), 7, "ring", null));
    }
}
