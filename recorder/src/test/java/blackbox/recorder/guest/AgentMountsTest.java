package blackbox.recorder.guest;

import static org.junit.jupiter.api.Assertions.assertEquals;

import blackbox.recorder.guest.AgentMounts.Mount;
import blackbox.recorder.guest.AgentMounts.Origin;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import org.junit.jupiter.api.Test;

class AgentMountsTest {
    private static final long OVERLAY = 0x794c7630L;
    private static final long TMPFS = 0x01021994L;

    private static final AgentMounts MOUNTS = new AgentMounts(
            1,
            2,
            List.of(
                    new Mount(27, "/", "/"),
                    new Mount(22, "/", "/proc"),
                    new Mount(22, "/sys", "/proc/sys"),
                    new Mount(30, "/", "/run"),
                    new Mount(31, "/deep", "/opt")));

    private static String known(long device, long fileSystem, String inside) {
        return MOUNTS.known(new Origin(device, fileSystem, 5), inside).toString();
    }

    @Test
    void aFileHasThePathAtWhichTheAgentsFirstNamespaceHasIt() {
        assertEquals("/", known(27, OVERLAY, "/"));
        assertEquals("/workspace/a b", known(27, OVERLAY, "/workspace/a b"));
        assertEquals("/proc", known(22, 0x9fa0, "/"));
        assertEquals("/proc/1/status", known(22, 0x9fa0, "/1/status"));
        assertEquals("/proc/sys/kernel", known(22, 0x9fa0, "/sys/kernel"));
        assertEquals("/run/x", known(30, TMPFS, "/x"));
        assertEquals("/opt/y", known(31, TMPFS, "/deep/y"));
        assertEquals("/opt", known(31, TMPFS, "/deep"));
    }

    @Test
    void whatThatNamespaceDoesNotShowIsNamedByItsFileSystem() {
        assertEquals("tmpfs[0:45]/passwd", known(45, TMPFS, "/passwd"));
        assertEquals("tmpfs[0:31]/deeper", known(31, TMPFS, "/deeper"));
        assertEquals("ext4[254:16]/upper/x", known(254L << 20 | 16, 0xef53, "/upper/x"));
        assertEquals("filesystem-1234[0:9]/", known(9, 0x1234, "/"));
        // Beneath what is mounted there.
        assertEquals("overlay[0:27]/run/x", known(27, OVERLAY, "/run/x"));
        assertEquals("overlay[0:27]/proc/sys/x", known(27, OVERLAY, "/proc/sys/x"));
        assertEquals("/running", known(27, OVERLAY, "/running"));
    }

    @Test
    void whatInitSaysIsRead() throws Exception {
        String said = """
                {"supervisor":1,"agent":2,"mounts":[{"device":27,"root":"/","at":"/"},{"device":22,"root":"/","at":"/proc"},
                {"device":22,"root":"/sys","at":"/proc/sys"},{"device":30,"root":"/","at":"/run"},
                {"device":31,"root":"/deep","at":"/opt"},{"root":"","at":"x"},7]}""";
        assertEquals(MOUNTS, AgentMounts.of(new ObjectMapper().readTree(said)));
        assertEquals(AgentMounts.NONE, AgentMounts.of(new ObjectMapper().readTree("[]")));
    }
}
