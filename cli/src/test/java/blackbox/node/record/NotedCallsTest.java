package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.node.record.Installation.Ended;
import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Calls by which a process gets around others, or around what is recorded, are events with the result that the caller
/// got, also where the kernel refused them.
final class NotedCallsTest {

    /// Prints what the record should call each, and the negated error.
    private static final String CALLS = """
            import ctypes, mmap, os, signal, socket
            libc = ctypes.CDLL(None, use_errno=True)
            def told(name, result, error):
                print(name, -error if result < 0 else 0, flush=True)
            def call(name, number, *args):
                result = libc.syscall(number, *args)
                told(name, result, ctypes.get_errno())
            # push rbx; mov eax, edi; mov ebx, esi; mov ecx, edx; xor edx, edx; xor esi, esi; int 0x80; pop rbx; ret
            code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
            code.write(bytes.fromhex('53' '89f8' '89f3' '89d1' '31d2' '31f6' 'cd80' '5b' 'c3'))
            place = ctypes.addressof(ctypes.c_char.from_buffer(code))
            by_int_80 = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int)(place)
            pid = os.fork()
            if pid == 0:
                signal.pause()
            octets = ctypes.create_string_buffer(64)
            class Vector(ctypes.Structure):
                _fields_ = [('base', ctypes.c_void_p), ('length', ctypes.c_size_t)]
            here = Vector(ctypes.addressof(octets), 8)
            there = Vector(ctypes.addressof(octets) + 16, 8)
            call('vm_read', 310, pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
            call('vm_write', 311, pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
            call('vm_read', 310, pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 1)
            descriptor = os.pidfd_open(pid)
            call('pidfd_getfd', 438, descriptor, 0, 0)
            call('prlimit', 302, pid, 7, 0, 0)
            result = by_int_80(340, pid, 7)
            told('prlimit', result, -result)
            call('userfaultfd', 323, 0)
            call('fanotify', 300, 0, 0)
            call('perf_event', 298, 0, pid, -1, -1, 0)
            call('setgroups', 116, 0, 0)
            call('reboot', 169, 0xfee1dead, 672274793, 0x1234567, 0)
            call('kexec', 246, 0, 0, 0, 0)
            call('kexec', 320, 0, 0, 0, 0, 0)
            call('swap', 167, b'/tmp/none', 0)
            call('clock', 164, 0, 0)
            call('clock', 227, 0, 0)
            call('ports', 172, 3)
            call('ports', 173, 0x80, 1, 1)
            call('module', 175, 0, 0, b'')
            call('module', 313, 0, b'', 0)
            call('bpf', 321, 5, 0, 0)
            result = by_int_80(357, 5, 0)
            told('bpf', result, -result)
            call('setns', 308, -1, 0)
            result = by_int_80(346, -1, 0)
            told('setns', result, -result)
            call('ptrace', 101, 4, pid, 0, 0)
            call('prctl', 157, 38, 1, 0, 0, 0)
            call('seccomp', 317, 1, 0, 0)
            for kind in ((socket.AF_PACKET, socket.SOCK_RAW, 0), (socket.AF_INET, socket.SOCK_RAW, 1), (socket.AF_INET, 3, 255)):
                try:
                    socket.socket(*kind)
                except OSError as failure:
                    told('socket', -1, failure.errno)
            # Neither looking nor what concerns itself is noted.
            libc.syscall(302, 0, 7, 0, 0)
            libc.syscall(157, 15, b'name', 0, 0, 0)
            os.kill(pid, 9)
            os.waitpid(pid, 0)
            child = os.fork()
            if child == 0:
                call('ptrace', 101, 0, 0, 0, 0)
                os._exit(0)
            os.waitpid(child, 0)
            """;

    /// Clone with a flag that makes a namespace of users, by the raw call.
    private static final String NAMESPACES = """
            import ctypes, os
            libc = ctypes.CDLL(None, use_errno=True)
            if libc.syscall(56, 0x10000000 | 17, 0, 0, 0, 0) == 0:
                os._exit(0)
            os.wait()
            """;

    @TempDir
    Path folder;

    @Test
    void eachIsInTheRecordWithItsResult() throws Exception {
        Installation blackbox = Installation.in(folder);
        Ended ended = blackbox.run("record", "--json", "--tier", "live", "--", "python3", "-c", CALLS)
                .expect(0);
        var noted = new ArrayList<String>();
        for (JsonNode use : privileges(blackbox, ended)) {
            noted.add(use.path("what").asText() + " " + use.path("ret").asLong());
        }
        List<String> called = ended.out().lines().toList();
        assertTrue(called.size() > 25, ended::out);
        assertEquals(called, noted);
    }

    @Test
    void aCloneIntoANamespaceIsInTheRecord() throws Exception {
        Installation blackbox = Installation.in(folder);
        Ended ended = blackbox.run("record", "--json", "--tier", "live", "--", "python3", "-c", NAMESPACES)
                .expect(0);
        List<JsonNode> clones = privileges(blackbox, ended).stream()
                .filter(each -> each.path("what").asText().equals("clone"))
                .toList();
        assertEquals(1, clones.size(), clones::toString);
        assertEquals(0, clones.getFirst().path("ret").asInt());
        assertEquals(0x10000000, clones.getFirst().path("detail").path("a").asInt() & 0x10000000);
    }

    private static List<JsonNode> privileges(Installation blackbox, Ended recorded) throws Exception {
        String run = recorded.recorded().path("run").asText();
        return blackbox.events(run, "privilege.use").stream()
                .filter(each -> each.path("actor").asText().equals("agent"))
                .toList();
    }
}
