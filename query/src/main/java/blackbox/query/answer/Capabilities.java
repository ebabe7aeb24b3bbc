package blackbox.query.answer;

import java.util.ArrayList;
import java.util.List;

/// Names of Linux capabilities (include/uapi/linux/capability.h, Linux 6.1).
final class Capabilities {

    private static final List<String> NAMES = List.of(
            "CHOWN",
            "DAC_OVERRIDE",
            "DAC_READ_SEARCH",
            "FOWNER",
            "FSETID",
            "KILL",
            "SETGID",
            "SETUID",
            "SETPCAP",
            "LINUX_IMMUTABLE",
            "NET_BIND_SERVICE",
            "NET_BROADCAST",
            "NET_ADMIN",
            "NET_RAW",
            "IPC_LOCK",
            "IPC_OWNER",
            "SYS_MODULE",
            "SYS_RAWIO",
            "SYS_CHROOT",
            "SYS_PTRACE",
            "SYS_PACCT",
            "SYS_ADMIN",
            "SYS_BOOT",
            "SYS_NICE",
            "SYS_RESOURCE",
            "SYS_TIME",
            "SYS_TTY_CONFIG",
            "MKNOD",
            "LEASE",
            "AUDIT_WRITE",
            "AUDIT_CONTROL",
            "SETFCAP",
            "MAC_OVERRIDE",
            "MAC_ADMIN",
            "SYSLOG",
            "WAKE_ALARM",
            "BLOCK_SUSPEND",
            "AUDIT_READ",
            "PERFMON",
            "BPF",
            "CHECKPOINT_RESTORE");

    private Capabilities() {}

    /// The names of the bits that are set; `all` if every known one is.
    static String names(long mask) {
        if (Long.bitCount(mask) >= NAMES.size()) {
            return "all";
        }
        var names = new ArrayList<String>();
        for (long left = mask; left != 0; left &= left - 1) {
            int bit = Long.numberOfTrailingZeros(left);
            names.add(bit < NAMES.size() ? NAMES.get(bit) : "CAP_" + bit);
        }
        return String.join(",", names);
    }
}
