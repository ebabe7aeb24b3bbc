package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.node.record.Installation.Ended;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Containers inside the VM, as an agent without any privilege can make them: by bubblewrap, by crun, by
/// chroot, and by a single thread. What was done in each is told apart, under the names that the files have
/// outside. Programs that want control groups (crun, runc) are content only with a place where they could be.
final class ContainersTest {

    /// Debian's paths of what is taken from this machine into the guest.
    private static final List<Path> PROGRAMS =
            List.of(Path.of("/usr/bin/bwrap"), Path.of("/usr/bin/crun"), Path.of("/bin/busybox"));

    private static final String SCRIPT = """
            set -eu
            cd /workspace
            mkdir out bundle/rootfs/proc bundle/rootfs/dev bundle/rootfs/out
            if LD_LIBRARY_PATH=/workspace/lib lib/bwrap --version && LD_LIBRARY_PATH=/workspace/lib lib/crun --version; then
                LD_LIBRARY_PATH=/workspace/lib lib/bwrap --unshare-user --unshare-pid --ro-bind / / --dev /dev --proc /proc \\
                    --bind /workspace/out /mnt sh -c '
                        echo boxed > /mnt/bwrap
                        sh -c "exec 3>/mnt/bwrap-child; echo late >&3"
                        while read -r line; do :; done < /etc/passwd
                        read -r pid rest < /proc/self/stat; test "$pid" = $$'
                unshare --user --map-root-user --mount sh -euc '
                    mount -t tmpfs none /sys/fs/cgroup
                    LD_LIBRARY_PATH=/workspace/lib lib/crun --root /tmp/crun --cgroup-manager=disabled run \\
                        --bundle /workspace/bundle box'
            else
                echo BORROWED PROGRAMS DO NOT RUN
            fi
            unshare --user --map-root-user python3 -c "$CHROOT"
            unshare --user --map-root-user python3 -c "$THREAD"
            python3 -c "$REACHED"
            unshare --user --map-root-user python3 -c "$JOINED"
            echo outside > out/outside
            """;

    private static final String REACHED = """
            import subprocess
            box = subprocess.Popen(
                ['unshare', '--user', '--map-root-user', '--mount', 'sh', '-c', 'echo in > /workspace/out/reached-box; echo; read line'],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            box.stdout.readline()
            with open(f'/proc/{box.pid}/root/workspace/out/reached', 'w') as file:
                file.write('from outside')
            box.communicate(b'done\\n')
            """;

    private static final String JOINED = """
            import os, subprocess
            box = subprocess.Popen(['unshare', '--mount', 'sh', '-c', 'echo; read line'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            box.stdout.readline()
            child = os.fork()
            if child == 0:
                os.chroot(f'/proc/{box.pid}/root')
                with open('/workspace/out/joined', 'w') as file:
                    file.write('through mounts of another')
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
            box.communicate(b'done\\n')
            """;

    private static final String CHROOT = """
            import os
            os.chroot('/workspace/bundle/rootfs')
            os.chdir('/')
            os.execv('/bin/busybox', ['sh', '-c', 'echo rooted > /out/chroot; busybox sh -c "echo child > /out/chroot-child"'])
            """;

    private static final String THREAD = """
            import ctypes, os, subprocess, threading
            libc = ctypes.CDLL(None, use_errno=True)
            def apart():
                assert libc.unshare(0x20000) == 0, os.strerror(ctypes.get_errno())
                open('/workspace/out/thread', 'w').write('apart')
                subprocess.run(['sh', '-c', 'echo child > /workspace/out/thread-child'], check=True)
            thread = threading.Thread(target=apart)
            thread.start()
            thread.join()
            open('/workspace/out/main-thread', 'w').write('stayed')
            subprocess.run(['sh', '-c', 'echo child > /workspace/out/main-child'], check=True)
            """;

    private static final String BUNDLE = """
            {"ociVersion": "1.0.2", "hostname": "box", "root": {"path": "rootfs"},
             "process": {"cwd": "/", "args": ["/bin/busybox", "sh", "-c", "echo contained > /out/crun"],
                "user": {"uid": 0, "gid": 0}, "env": ["PATH=/bin"]},
             "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"},
                {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["mode=755"]},
                {"destination": "/out", "type": "bind", "source": "/workspace/out", "options": ["bind", "rw"]}],
             "linux": {"uidMappings": [{"containerID": 0, "hostID": 0, "size": 1}],
                "gidMappings": [{"containerID": 0, "hostID": 0, "size": 1}],
                "namespaces": [{"type": "user"}, {"type": "mount"}, {"type": "pid"}, {"type": "uts"}, {"type": "ipc"}]}}
            """;

    @TempDir
    Path folder;

    @Test
    void whatIsDoneInAContainerIsToldApart() throws Exception {
        Installation blackbox = Installation.in(folder);
        Path workspace = folder.resolve("workspace");
        prepare(workspace);
        Ended ended = blackbox.run(
                        "record",
                        "--json",
                        "--tier",
                        "live",
                        "--workspace",
                        workspace.toString(),
                        "--env",
                        "CHROOT=" + CHROOT,
                        "--env",
                        "THREAD=" + THREAD,
                        "--env",
                        "REACHED=" + REACHED,
                        "--env",
                        "JOINED=" + JOINED,
                        "--",
                        "sh",
                        "-c",
                        SCRIPT)
                .expect(0);
        String run = ended.recorded().path("run").asText();
        // Where this machine has a newer C library than the guest, its programs do not run there.
        boolean borrowed = !ended.out().contains("BORROWED PROGRAMS DO NOT RUN");

        JsonNode touched = blackbox.run("touched", run, "--by", "container", "--json")
                .expect(0)
                .json();
        var writers = new TreeMap<String, String>();
        for (JsonNode part : touched.path("containers")) {
            for (JsonNode file : part.path("files")) {
                String path = file.path("path").asText();
                if (file.path("written").asBoolean() && path.contains("/out/")) {
                    String other = writers.put(path.substring(path.lastIndexOf('/') + 1), name(part));
                    assertEquals(null, other, () -> path + " is in two containers: " + touched);
                }
            }
        }
        assertEquals("outside", writers.get("outside"), writers::toString);
        assertEquals("outside", writers.get("main-thread"), writers::toString);
        assertEquals("outside", writers.get("main-child"), writers::toString);
        assertEquals("outside", writers.get("reached"), writers::toString);
        var boxes = new ArrayList<>(List.of("chroot", "thread", "reached-box"));
        if (borrowed) {
            boxes.addAll(List.of("bwrap", "crun"));
            assertEquals(writers.get("bwrap"), writers.get("bwrap-child"), writers::toString);
            assertEquals(
                    "/workspace/bundle/rootfs  busybox",
                    String.valueOf(writers.get("crun")).replaceFirst(" \\[.*] ", "  "));
        }
        for (String made : List.of("chroot", "thread")) {
            assertEquals(writers.get(made), writers.get(made + "-child"), writers::toString);
        }
        var places = new HashSet<>(List.of("outside"));
        boxes.forEach(box -> places.add(String.valueOf(writers.get(box))));
        assertEquals(boxes.size() + 1, places.size(), writers::toString);
        assertTrue(String.valueOf(writers.get("joined")).startsWith("/ chroot"), writers::toString);
        String rooted = String.valueOf(writers.get("chroot"));
        assertTrue(rooted.startsWith("/workspace/bundle/rootfs chroot"), rooted);

        // No program of a container is among those outside, but for those that moved, and all have ended.
        for (JsonNode process : touched.path("containers").path(0).path("processes")) {
            assertFalse(process.path("exe").asText().contains("busybox"), process::toString);
            boolean isAgents = process.path("ppid").asLong() > 100;
            assertEquals(
                    isAgents ? "0" : process.path("exitCode").asText(),
                    process.path("exitCode").asText(),
                    process::toString);
        }
        String text =
                blackbox.run("touched", run, "--by", "container").expect(0).out();
        assertTrue(
                text.contains("== Outside of containers")
                        && text.contains(
                                ": busybox, root /workspace/bundle/rootfs, chroot /workspace/bundle/rootfs, from"),
                text);
    }

    private static String name(JsonNode part) {
        JsonNode container = part.path("container");
        return container.isNull()
                ? "outside"
                : container.path("root").asText() + (container.path("chroot").isNull() ? "" : " chroot") + " "
                        + container.path("numbers") + " " + part.path("program").asText();
    }

    /// The programs with the libraries that they need, and a bundle for crun.
    private static void prepare(Path workspace) throws IOException, InterruptedException {
        Path lib = Files.createDirectories(workspace.resolve("lib"));
        Path bin = Files.createDirectories(workspace.resolve("bundle/rootfs/bin"));
        Files.copy(PROGRAMS.get(2), bin.resolve("busybox"));
        Files.copy(PROGRAMS.get(2), bin.resolve("sh"));
        for (Path program : PROGRAMS.subList(0, 2)) {
            Files.copy(program, lib.resolve(program.getFileName()));
            for (Path library : libraries(program)) {
                if (!Files.exists(lib.resolve(library.getFileName()))) {
                    Files.copy(library, lib.resolve(library.getFileName()));
                }
            }
        }
        Files.writeString(workspace.resolve("bundle/config.json"), BUNDLE);
    }

    /// Without libc, which the guest has.
    private static List<Path> libraries(Path program) throws IOException, InterruptedException {
        Process ldd = new ProcessBuilder("ldd", program.toString()).start();
        String said = new String(ldd.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, ldd.waitFor(), said);
        var found = new ArrayList<Path>();
        for (String line : said.lines().toList()) {
            String[] words = line.strip().split(" ");
            if (words.length > 2 && words[2].startsWith("/") && !words[0].startsWith("libc.so")) {
                found.add(Path.of(words[2]));
            }
        }
        return found;
    }
}
