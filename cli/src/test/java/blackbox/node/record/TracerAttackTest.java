package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.node.record.Installation.Ended;
import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Agents that try to end the tracer, or to starve it. It goes on, and the record is complete.
final class TracerAttackTest {

    /// Tries everything that a root without capabilities might do to the processes that watch it.
    private static final String AS_ROOT = """
            import ctypes, fcntl, os, resource, signal, time
            libc = ctypes.CDLL(None, use_errno=True)
            def cmdline(pid):
                try:
                    return open(f'/proc/{pid}/cmdline', 'rb').read()
                except OSError:
                    return b''
            pids = [int(p) for p in os.listdir('/proc') if p.isdigit()]
            tracer = [p for p in pids if b'/tracer.py\\0' in cmdline(p)][0]
            init = [p for p in pids if b'/init.py\\0' in cmdline(p)]
            assert 1 in init and len(init) == 2, init
            def attempt(what, act):
                try:
                    act()
                    print(what, 'DONE')
                except OSError as failure:
                    print(what, failure.errno)
            def put(path, text):
                with open(path, 'w') as file:
                    file.write(text)
            def by_owner(pid):
                reading, writing = os.pipe()
                fcntl.fcntl(reading, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
                fcntl.fcntl(reading, fcntl.F_SETOWN, pid)
                fcntl.fcntl(reading, 10, signal.SIGKILL)
                os.write(writing, b'x')
                os.close(reading)
                os.close(writing)
            # One after the other, all of them, also where the first succeeds.
            for who, pid in [('tracer', tracer)] + [('init', p) for p in init]:
                attempt(who + ' kill', lambda: os.kill(pid, signal.SIGKILL))
                attempt(who + ' stop', lambda: os.kill(pid, signal.SIGSTOP))
                attempt(who + ' owner', lambda: by_owner(pid))
                attempt(who + ' cpu', lambda: resource.prlimit(pid, resource.RLIMIT_CPU, (1, 1)))
                attempt(who + ' files', lambda: resource.prlimit(pid, resource.RLIMIT_NOFILE, (0, 0)))
                attempt(who + ' oom', lambda: put(f'/proc/{pid}/oom_score_adj', '1000'))
                attempt(who + ' task-oom', lambda: put(f'/proc/{pid}/task/{pid}/oom_score_adj', '1000'))
                attempt(who + ' nice', lambda: os.setpriority(os.PRIO_PROCESS, pid, 19))
                attempt(who + ' idle', lambda: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0)))
            """;

    /// As root in a namespace of users of its own: its group's limits are out of reach there, too.
    private static final String IN_OWN_NAMESPACE = """
            import ctypes, os
            libc = ctypes.CDLL(None, use_errno=True)
            CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWCGROUP = 0x10000000, 0x20000, 0x02000000
            assert libc.unshare(CLONE_NEWUSER) == 0
            for name, text in (('setgroups', 'deny'), ('uid_map', '0 0 1'), ('gid_map', '0 0 1')):
                with open('/proc/self/' + name, 'w') as file:
                    file.write(text)
            assert libc.unshare(CLONE_NEWNS | CLONE_NEWCGROUP) == 0
            os.mkdir('/tmp/group')
            assert libc.mount(b'none', b'/tmp/group', b'cgroup2', 0, None) == 0, ctypes.get_errno()
            for name, text in (('memory.max', 'max'), ('pids.max', 'max'), ('cgroup.freeze', '0')):
                try:
                    with open('/tmp/group/' + name, 'w') as file:
                        file.write(text)
                    print(name, 'DONE')
                except OSError as failure:
                    print(name, failure.errno)
            """;

    /// As root in namespaces of its own, in a /proc and a /sys that it has mounted itself: the files in them
    /// that speak to the kernel are still root's.
    private static final String IN_OWN_PROC = """
            import ctypes, os
            libc = ctypes.CDLL(None, use_errno=True)
            CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000, 0x20000000, 0x40000000
            assert libc.unshare(CLONE_NEWUSER) == 0
            for name, text in (('setgroups', 'deny'), ('uid_map', '0 0 1'), ('gid_map', '0 0 1')):
                with open('/proc/self/' + name, 'w') as file:
                    file.write(text)
            assert libc.unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET) == 0
            if os.fork():
                os._exit(os.waitstatus_to_exitcode(os.wait()[1]))
            for kind in ('proc', 'sysfs'):
                os.mkdir('/tmp/' + kind)
                assert libc.mount(b'none', f'/tmp/{kind}'.encode(), kind.encode(), 0, None) == 0, ctypes.get_errno()
            for path, text in (
                ('proc/sys/kernel/core_pattern', '|/tmp/mine'),
                ('proc/sys/vm/panic_on_oom', '1'),
                ('proc/sysrq-trigger', 'b'),
                ('proc/irq/default_smp_affinity', '1'),
                ('sysfs/kernel/profiling', '1'),
                ('proc/1/oom_score_adj', '7'),
                ('proc/self/task/1/comm', 'own'),
            ):
                try:
                    with open('/tmp/' + path, 'w') as file:
                        file.write(text)
                    print(path, 'DONE')
                except OSError as failure:
                    print(path, failure.errno)
            for path in ('/run/blackbox', '/run', '/proc/sys'):
                print(path, libc.umount2(path.encode(), 2))
            print(os.listdir('/run/blackbox'))
            """;

    /// The kernel executes these files of its own accord, as a root that has all capabilities and is in no
    /// group.
    private static final String HELPERS = """
            import ctypes, os, socket, time
            libc = ctypes.CDLL(None, use_errno=True)
            for path in ('/sbin/modprobe', '/sbin/request-key'):
                if os.path.lexists(path):
                    os.unlink(path)
                with open(path, 'w') as file:
                    file.write('#!/bin/sh\\nid >>/tmp/helped\\n')
                os.chmod(path, 0o755)
            try:
                socket.socket(socket.AF_X25, socket.SOCK_SEQPACKET)
            except OSError as failure:
                print(failure.errno)
            print(libc.syscall(249, b'user', b'a', b'x', -1))
            print(os.path.exists('/tmp/helped'))
            """;

    /// Many middle-sized processes, so that none of them is the obvious one to end; each touches its memory.
    private static final String MEMORY = """
            import os, sys, time
            for i in range(24):
                if os.fork() == 0:
                    kept = []
                    try:
                        while len(kept) < 60:
                            kept.append(b'x' * (1 << 20))
                        time.sleep(5)
                    finally:
                        os._exit(0)
            ended = [os.wait()[1] for i in range(24)]
            print('killed' if 9 in ended else 'none', len(ended))
            """;

    private static final String FORKS = """
            import os, time
            parent = os.getpid()
            end = time.monotonic() + 20
            made = 0
            while time.monotonic() < end:
                try:
                    if os.fork() == 0:
                        while time.monotonic() < end:
                            try:
                                if os.fork() == 0:
                                    open('/tmp/%d' % os.getpid(), 'w').close()
                            except OSError:
                                pass
                        os._exit(0)
                    made += 1
                except OSError:
                    pass
            os._exit(0)
            """;

    @TempDir
    static Path folder;

    private static Installation blackbox;

    @BeforeAll
    static void install() throws Exception {
        blackbox = Installation.in(folder);
    }

    /// The run's id, once it has been verified to be complete and its tracer to have lived on.
    private static String complete(Ended ended) throws Exception {
        String run = ended.recorded().path("run").asText();
        for (JsonNode finding : blackbox.events(run, "recorder.finding")) {
            assertEquals("LIMIT_REACHED", finding.path("what").asText(), finding::toString);
        }
        blackbox.verifyComplete(run);
        return run;
    }

    @Test
    void aRootWithoutCapabilitiesReachesNoProcessThatWatchesIt() throws Exception {
        Ended ended = blackbox.run(
                        "record", "--json", "--tier", "live", "--user", "root", "--", "python3", "-c", AS_ROOT)
                .expect(0);
        List<String> done = new ArrayList<>(ended.out().lines().toList());
        // What is sent to whom F_SETOWN names is only refused on its way, so that nobody is told.
        assertTrue(done.removeIf(line -> line.endsWith(" owner DONE")), ended::out);
        assertEquals(24, done.size(), ended::out);
        assertEquals(
                List.of(), done.stream().filter(line -> line.endsWith(" DONE")).toList());
        String run = complete(ended);
        List<JsonNode> used = blackbox.events(run, "privilege.use");
        assertEquals(6, used.stream().filter(each -> isRefused(each, "prlimit")).count(), used::toString);
        // Two to each of three; one that F_SETOWN sends is no call, and none of it is an event.
        assertEquals(6, used.stream().filter(each -> isRefused(each, "kill")).count(), used::toString);
    }

    private static boolean isRefused(JsonNode use, String what) {
        return use.path("what").asText().equals(what) && use.path("ret").asInt() == -1;
    }

    @Test
    void theKernelExecutesNoFileOfItsOwnAccord() throws Exception {
        Ended ended = blackbox.run(
                        "record", "--json", "--tier", "live", "--user", "root", "--", "python3", "-c", HELPERS)
                .expect(0);
        assertEquals("97\n-1\nFalse\n", ended.out());
        List<JsonNode> used = blackbox.events(complete(ended), "privilege.use");
        // Refused is what is found; the root in which the kernel looks is the image, which has neither.
        assertEquals(0, used.stream().filter(each -> isRefused(each, "helper")).count(), used::toString);
    }

    @Test
    void itsGroupsLimitsAreOutOfReachInANamespaceOfItsOwn() throws Exception {
        Ended ended = blackbox.run(
                        "record", "--json", "--tier", "live", "--user", "root", "--", "python3", "-c", IN_OWN_NAMESPACE)
                .expect(0);
        assertEquals("memory.max 1\npids.max 1\ncgroup.freeze 1\n", ended.out());
        String unused = complete(ended);
    }

    @Test
    void whatSpeaksToTheKernelIsOutOfReachInAProcOfItsOwn() throws Exception {
        Ended ended = blackbox.run(
                        "record", "--json", "--tier", "live", "--user", "root", "--", "python3", "-c", IN_OWN_PROC)
                .expect(0);
        assertEquals("""
                proc/sys/kernel/core_pattern 1
                proc/sys/vm/panic_on_oom 1
                proc/sysrq-trigger 1
                proc/irq/default_smp_affinity 1
                sysfs/kernel/profiling 1
                proc/1/oom_score_adj DONE
                proc/self/task/1/comm DONE
                /run/blackbox -1
                /run -1
                /proc/sys -1
                []
                """, ended.out());
        String unused = complete(ended);
    }

    @Test
    void memoryFilledByManyEndsSomeOfThem() throws Exception {
        Ended ended = blackbox.run("record", "--json", "--tier", "live", "--", "python3", "-c", MEMORY);
        assertEquals("killed 24\n", ended.expect(0).out(), ended::err);
        String unused = complete(ended);
    }

    @Test
    void aForkBombIsSeenWhole() throws Exception {
        // The first may be among those that are ended when their memory runs out.
        Ended ended = blackbox.run("record", "--json", "--tier", "live", "--", "python3", "-c", FORKS);
        String run = complete(ended);
        assertTrue(blackbox.events(run, "process.fork").size() > 500, () -> "a bomb");
    }
}
