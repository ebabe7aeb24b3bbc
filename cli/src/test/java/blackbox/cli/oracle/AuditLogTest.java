package blackbox.cli.oracle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.cli.oracle.AuditLog.Call;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class AuditLogTest {

    private static final Links LINKS = new Links("/bin\0usr/bin\0/etc/mtab\0../proc/self/mounts\0");

    private static final String CALL = "1300 audit(1795734537.841:%d): arch=c000003e syscall=%d success=yes exit=%d"
            + " a0=%s a1=0 a2=0 a3=0 items=1 ppid=1 pid=149 auid=4711 uid=%d gid=0 euid=0 suid=0 fsuid=0 egid=0 sgid=0"
            + " fsgid=0 comm=\"git\" exe=\"/usr/bin/git\" key=(null)";

    private static String call(int serial, int number, int result, String first) {
        return CALL.formatted(serial, number, result, first, 0);
    }

    private static List<Call> parse(String... lines) {
        return AuditLog.parse(List.of(lines), LINKS);
    }

    @Test
    void aPathIsKnownByAllItsNames() {
        Call open = parse(
                        call(7, 257, 3, "ffffff9c"),
                        "1307 audit(1795734537.841:7): cwd=\"/bin\"",
                        "1302 audit(1795734537.841:7): item=0 name=\"sh\" inode=61 nametype=NORMAL cap_fp=0",
                        "1320 audit(1795734537.841:7): ")
                .getFirst();
        assertEquals(new Call("file.open", 149, 0, Set.of("sh", "/usr/bin/sh")), open);
        assertTrue(open.isAbout("/usr/bin/sh"));
        assertFalse(open.isAbout("/bin/bash"));
    }

    @Test
    void aNameBelowADescriptorIsOneInAnyFolder() {
        Call open = parse(
                        call(7, 257, -13, "5"),
                        "1302 audit(1795734537.841:7): item=0 name=64656570202F66 nametype=UNKNOWN")
                .getFirst();
        assertEquals(-13, open.result());
        assertTrue(open.isAbout("/somewhere/deep /f"));
        assertFalse(open.isAbout("/somewhere/f"));
    }

    @Test
    void ofACallThatFailedTheLogMayHaveTheFolderAlone() {
        Call made = parse(
                        call(7, 83, -17, "0"),
                        "1302 audit(1795734537.841:7): item=0 name=\"/srv/repository/\" nametype=PARENT")
                .getFirst();
        assertTrue(made.isAbout("/srv/repository/.git/"));
        assertTrue(made.isAbout(".git"));
        assertFalse(made.isAbout("/srv/.git"));
    }

    @Test
    void longArgumentsComeInPartsAndAddressesInHexadecimal() {
        List<Call> calls = parse(
                call(7, 59, 0, "0"),
                "1309 audit(1795734537.841:7): argc=3 a0=\"sh\" a1=6120 a2_len=4 a2[0]=\"xx\" a2[1]=\"yy\"",
                call(8, 42, 0, "3"),
                "1306 audit(1795734537.841:8): saddr=020000097F0000010000000000000000",
                call(9, 42, -2, "3"),
                "1306 audit(1795734537.841:9): saddr=01002F746D702F7300");
        assertEquals(
                List.of(Set.of("sh\0a \0xxyy"), Set.of("127.0.0.1 9"), Set.of("/tmp/s")),
                calls.stream().map(Call::names).toList());
    }

    @Test
    void idsThatChangeAndProcessesThatAreMadeAreCalls() {
        List<Call> calls = parse(
                call(7, 56, 150, "1200011"),
                call(8, 56, 151, "3d0f00"),
                CALL.formatted(9, 117, 0, "fffe", 65534),
                call(10, 105, -1, "0"),
                call(11, 231, 0, "103"));
        assertEquals(
                List.of(
                        new Call("process.fork", 150, 0, Set.of()),
                        new Call("cred.change", 149, 0, Set.of()),
                        new Call("cred.change", 149, 0, Set.of()),
                        new Call("privilege.use", 149, -1, Set.of("setuid")),
                        new Call("process.exit", 149, 0, Set.of("3"))),
                calls);
    }

    @Test
    void whatIsNoRecordIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> parse("audit"));
    }

    @Test
    void linksThatLeadToThemselvesEnd() {
        assertTrue(new Links("/a\0b\0/b\0a\0").namesOf("/a/c", null, 1).contains("/a/c"));
        assertTrue(LINKS.namesOf("/etc/mtab", null, 17).contains("/proc/self/mounts"));
        assertTrue(LINKS.namesOf("/proc/self/mounts", null, 17).contains("/proc/17/mounts"));
    }
}
