package blackbox.cli.oracle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.cli.oracle.AuditLog.Call;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.ProcessRef;
import blackbox.schemas.row.Text;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The tracer compared with the kernel's own audit subsystem in the same guest, at the work that agents do:
/// whatever the audit log has is in the events, of the same process, with the same result and name.
class AuditOracleTest {

    /// How many calls the workload makes at least that must have been audited.
    private static final Map<String, Long> LEAST = Map.ofEntries(
            Map.entry("process.exec", 200L),
            Map.entry("process.fork", 100L),
            Map.entry("process.exit", 100L),
            Map.entry("file.open", 4_000L),
            Map.entry("file.rename", 150L),
            Map.entry("file.unlink", 150L),
            Map.entry("file.mkdir", 120L),
            Map.entry("file.rmdir", 120L),
            Map.entry("file.link", 50L),
            Map.entry("file.symlink", 50L),
            Map.entry("file.chmod", 60L),
            Map.entry("file.chown", 50L),
            Map.entry("file.truncate", 50L),
            Map.entry("file.utime", 50L),
            Map.entry("file.mknod", 2L),
            Map.entry("net.connect", 33L),
            Map.entry("cred.change", 2L),
            Map.entry("privilege.use", 2L));

    @TempDir
    Path folder;

    /// A thing that an event says was done.
    private record Seen(String kind, int pid, long result) {}

    @Test
    void whatTheKernelAuditedIsInTheEvents() throws Exception {
        TracedGuest.Ran ran = TracedGuest.runWatched(
                folder, "audited-tracer.py", "auditor.py", "audited.py", "python3", "/workspace/audited.py");
        assertEquals("", ran.printed());
        List<String> lines = Files.readAllLines(ran.workspace().resolve("audit.log"), StandardCharsets.ISO_8859_1);
        assertEquals("lost 0", lines.getFirst());
        var links = new Links(Files.readString(ran.workspace().resolve("links"), StandardCharsets.ISO_8859_1));
        List<Call> calls = AuditLog.parse(lines.subList(1, lines.size()), links);
        var kinds = new TreeMap<String, Long>();
        calls.forEach(call -> kinds.merge(call.kind(), 1L, Long::sum));
        List<Call> missing = missing(calls, ran.events());
        System.out.println("oracle: the kernel audited " + calls.size() + " calls in " + lines.size() + " records, "
                + kinds + "; " + ran.events().size() + " events, missing " + missing.size() + ", declared lost "
                + ran.lost());
        for (var least : LEAST.entrySet()) {
            assertTrue(kinds.getOrDefault(least.getKey(), 0L) >= least.getValue(), () -> "too few: " + kinds);
        }
        assertEquals(0, ran.lost());
        assertEquals(List.of(), missing);
    }

    /// Each event answers for one call.
    private static List<Call> missing(List<Call> calls, List<Event> events) {
        var seen = new HashMap<Seen, List<List<String>>>();
        for (Event event : events) {
            ProcessRef process = event.header().process();
            Seen key = process == null ? null : seen(event, process.pid());
            if (key != null) {
                seen.computeIfAbsent(key, _ -> new ArrayList<>()).add(names(event));
            }
        }
        return calls.stream()
                .filter(call -> !isTaken(call, seen.get(new Seen(call.kind(), call.pid(), call.result()))))
                .toList();
    }

    private static boolean isTaken(Call call, @Nullable List<List<String>> events) {
        for (int i = 0; events != null && i < events.size(); i++) {
            List<String> names = events.get(i);
            // An event that lacks its name does not answer for a call that has one.
            if (call.names().isEmpty() || !names.isEmpty() && names.stream().allMatch(call::isAbout)) {
                events.remove(i);
                return true;
            }
        }
        return false;
    }

    private static @Nullable Seen seen(Event event, int pid) {
        return switch (event) {
            case Event.FileOpen e -> new Seen(e.kind().eventName(), pid, Math.min(0, e.ret()));
            case Event.FileAllocate e -> new Seen(e.kind().eventName(), pid, Math.min(0, e.ret()));
            case Event.FileChange e -> new Seen(e.kind().eventName(), pid, Math.min(0, e.ret()));
            case Event.ProcessExec e -> new Seen(e.kind().eventName(), pid, e.ret());
            case Event.PrivilegeUse e -> new Seen(e.kind().eventName(), pid, e.ret());
            case Event.NetCall e -> new Seen(e.kind().eventName(), pid, e.ret());
            case Event.ProcessFork e -> new Seen(e.kind().eventName(), pid, 0);
            case Event.ProcessExit e -> new Seen(e.kind().eventName(), pid, 0);
            case Event.CredChange e -> new Seen(e.kind().eventName(), pid, 0);
            default -> null;
        };
    }

    private static List<String> names(Event event) {
        return switch (event) {
            case Event.FileOpen e -> octets(e.path());
            case Event.FileAllocate e -> octets(e.path());
            case Event.FileChange e -> octets(e.path(), e.pathTo());
            case Event.ProcessExec e when e.ret() < 0 -> octets(e.exe());
            case Event.ProcessExec e ->
                List.of(String.join(
                        "\0", octets(e.argv() == null ? new Text[0] : e.argv().toArray(Text[]::new))));
            case Event.PrivilegeUse e -> List.of(e.what());
            case Event.ProcessExit e -> List.of(String.valueOf(e.exitCode()));
            case Event.NetCall e -> e.remote() == null ? octets(e.path()) : List.of(address(e.remote()));
            default -> List.of();
        };
    }

    private static String address(Endpoint remote) {
        return InetAddress.ofLiteral(remote.ip()).getHostAddress() + " " + remote.port();
    }

    private static List<String> octets(@Nullable Text... texts) {
        return Stream.of(texts)
                .filter(text -> text != null)
                .map(text -> new String(text.toBytes(), StandardCharsets.ISO_8859_1))
                .toList();
    }
}
