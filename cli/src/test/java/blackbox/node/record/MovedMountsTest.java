package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.node.record.Installation.Ended;
import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// An agent without any privilege that gives files other names by mounts of its own: what it writes is in the record
/// under
/// the name that the file really has, and what it only seems to write is not.
final class MovedMountsTest {

    private static final String BINDS = """
            mount --bind /workspace/kept /tmp/innocent
            echo bound > /tmp/innocent/through-bind
            cd /tmp/innocent
            umount -l /tmp/innocent
            echo lazy > through-lazy
            cd /
            mount -t tmpfs none /etc
            echo root::0:0::/:/bin/sh > /etc/passwd
            while read -r line; do :; done < /etc/passwd
            """;

    private static final String OVERLAY = """
            mount -t tmpfs none /tmp/layers
            mkdir /tmp/layers/up /tmp/layers/work
            mount -t overlay -o lowerdir=/workspace,upperdir=/tmp/layers/up,workdir=/tmp/layers/work overlay /workspace
            echo unreal > /workspace/never-written
            """;

    private static final String PIVOT = """
            mount -t tmpfs none /tmp/layers
            mkdir /tmp/layers/old
            cd /tmp/layers
            /sbin/pivot_root . old
            echo pivoted > /workspace-of-its-own
            echo kept > /old/workspace/kept/through-pivot
            """;

    private static final String TREE = """
            import ctypes, os
            libc = ctypes.CDLL(None, use_errno=True)
            tree = libc.syscall(428, -100, b'/workspace/kept', 1)
            assert tree >= 0, os.strerror(ctypes.get_errno())
            for name in ('through-tree', 'renamed-through-tree'):
                os.close(os.open(name, os.O_CREAT | os.O_WRONLY, dir_fd=tree))
            os.rename('renamed-through-tree', 'second-through-tree', src_dir_fd=tree, dst_dir_fd=tree)
            os.chroot('/workspace/kept')
            with open('/through-chroot', 'w') as file:
                file.write('rooted elsewhere')
            """;

    @TempDir
    Path folder;

    private static String inOwnNamespace(String script) {
        return "unshare --user --map-root-user --mount sh -euc '" + script + "'\n";
    }

    @Test
    void filesHaveTheirOwnNames() throws Exception {
        Installation blackbox = Installation.in(folder);
        Path workspace = folder.resolve("workspace");
        Files.createDirectories(workspace.resolve("kept"));
        String script = "set -eu\nmkdir /tmp/innocent /tmp/layers\n"
                + inOwnNamespace(BINDS)
                + inOwnNamespace(OVERLAY)
                + inOwnNamespace(PIVOT)
                + "unshare --user --map-root-user --mount python3 -c \"$TREE\"\n";
        Ended ended = blackbox.run(
                        "record",
                        "--json",
                        "--tier",
                        "live",
                        "--workspace",
                        workspace.toString(),
                        "--env",
                        "TREE=" + TREE,
                        "--",
                        "sh",
                        "-c",
                        script)
                .expect(0);
        String run = ended.recorded().path("run").asText();
        Map<String, JsonNode> written = written(blackbox.events(run));

        // What came back is just what the record says was written.
        var cameBack = new TreeSet<String>();
        Path kept = Path.of(ended.recorded().path("workspace").asText()).resolve("kept");
        try (var files = Files.list(kept)) {
            files.forEach(each -> cameBack.add("/workspace/kept/" + each.getFileName()));
        }
        var named = new TreeSet<>(written.keySet());
        named.removeIf(each -> !each.startsWith("/workspace/"));
        assertTrue(named.remove("/workspace/kept/renamed-through-tree"), named::toString);
        named.add("/workspace/kept/second-through-tree");
        assertEquals(cameBack, named);
        assertEquals(6, cameBack.size(), cameBack::toString);

        // What only seemed to be written has a name of its own, and the one that was used beside it.
        assertFalse(written.containsKey("/etc/passwd"), written::toString);
        for (String used : List.of("/etc/passwd", "/workspace/never-written", "/workspace-of-its-own")) {
            String known = written.entrySet().stream()
                    .filter(each -> seenAs(each.getValue()).equals(used))
                    .map(Map.Entry::getKey)
                    .findFirst()
                    .orElseThrow(() -> new AssertionError(used + " is not in " + written));
            assertTrue(known.matches("(tmpfs|overlay)\\[0:[0-9]+]/[a-z-]+"), known);
        }
        assertEquals("/tmp/innocent/through-bind", seenAs(required(written, "/workspace/kept/through-bind")));
        JsonNode tree = required(written, "/workspace/kept/through-tree");
        assertEquals("/through-tree", seenAs(tree));
        assertEquals(0, tree.path("detail").path("mountNamespace").asLong(-1));

        assertTheMountsAreEvents(blackbox.events(run, "privilege.use"));
        JsonNode touched = blackbox.run("touched", run, "--json").expect(0).json();
        assertTrue(touched.path("limits").toString().contains("mounts of the agent's own"), touched::toString);
        assertTrue(touched.path("limits").toString().contains("may be overlays"), touched::toString);
        assertTrue(touched.path("files").toString().contains("[0:"), "what is elsewhere is listed, too");
    }

    private static JsonNode required(Map<String, JsonNode> events, String path) {
        JsonNode event = events.get(path);
        assertTrue(event != null, () -> path + " is not in " + events.keySet());
        return event;
    }

    private static String seenAs(JsonNode event) {
        return event.path("detail").path("seenAs").path("path").asText();
    }

    /// The files that the agent made or wrote to, each with an event that says so.
    private static Map<String, JsonNode> written(List<JsonNode> events) {
        var written = new TreeMap<String, JsonNode>();
        for (JsonNode event : events) {
            boolean agents = event.path("actor").asText().equals("agent");
            boolean writes = event.path("bytesWritten").asLong() > 0
                    || event.path("created").asBoolean();
            if (agents && writes && !event.path("path").asText().equals("/dev/null")) {
                written.put(event.path("path").asText(), event);
            }
        }
        return written;
    }

    private static void assertTheMountsAreEvents(List<JsonNode> uses) {
        var seen = new TreeSet<String>();
        for (JsonNode use : uses) {
            JsonNode detail = use.path("detail");
            if (use.path("actor").asText().equals("agent") && use.path("ret").asInt() == 0) {
                seen.add(use.path("what").asText() + " " + use.path("path").asText() + " "
                        + detail.path("type").asText() + " "
                        + detail.path("source").asText());
            }
        }
        for (String expected : List.of(
                "mount /tmp/innocent none /workspace/kept",
                "mount /etc tmpfs none",
                "umount /workspace/kept  ",
                "chroot /workspace/kept  ",
                "open_tree   ")) {
            assertTrue(seen.contains(expected), () -> expected + " is not in " + String.join("\n", seen));
        }
        assertTrue(seen.stream().anyMatch(each -> each.startsWith("pivot_root tmpfs[0:")), seen::toString);
    }
}
