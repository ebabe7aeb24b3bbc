package blackbox.recorder.guest;

import blackbox.recorder.Detail;
import blackbox.schemas.event.AllocationMode;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.FindingDetail;
import blackbox.schemas.event.GuestOrigin;
import blackbox.schemas.event.Kind;
import blackbox.schemas.event.ProcessRef;
import blackbox.schemas.event.Protection;
import blackbox.schemas.event.Source;
import blackbox.schemas.net.DnsMessage;
import blackbox.schemas.row.Text;
import blackbox.schemas.wire.Frame;
import blackbox.schemas.wire.FrameType;
import blackbox.schemas.wire.Tlv;
import blackbox.schemas.wire.TlvType;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Turns one frame into one event, so that every sequence number that arrived is in the record. Owned by one
/// thread.
final class FrameEvents {

    private static final int FLOWS_MAX = 16_384;
    private static final List<String> GRANTING = List.of("security.", "system.");
    private static final List<String> PRIVILEGES = List.of(
            "",
            "ptrace",
            "module",
            "mount",
            "setns",
            "unshare",
            "bpf",
            "io_uring",
            "aio",
            "kill",
            "prlimit",
            "vm_read",
            "vm_write",
            "pidfd_getfd",
            "seccomp",
            "userfaultfd",
            "fanotify",
            "perf_event",
            "clone",
            "prctl",
            "setgroups",
            "reboot",
            "kexec",
            "swap",
            "clock",
            "ports",
            "helper",
            "umount",
            "move_mount",
            "pivot_root",
            "chroot",
            "open_tree",
            "fsopen",
            "fsmount",
            "mount_setattr",
            "fsconfig",
            "fspick",
            "setuid",
            "setgid",
            "setreuid",
            "setregid",
            "setresuid",
            "setresgid",
            "capset",
            "sethostname",
            "setdomainname",
            "add_key",
            "request_key",
            "keyctl",
            "landlock",
            "mq_open",
            "mq_unlink",
            "shmget",
            "semget",
            "msgget",
            "ipc",
            "delete_module",
            "acct",
            "swapoff",
            "open_by_handle",
            "process_madvise");

    private record FlowKey(
            String protocol,
            @Nullable Endpoint local,
            @Nullable Endpoint remote) {}

    private final HostClock clock;
    private final ProcessTable processes;
    private final AgentMounts mounts;

    /// What was reported of TCP connections before their end, to be subtracted from the report at their end.
    private final Map<FlowKey, long[]> told = new LinkedHashMap<>();

    FrameEvents(HostClock clock, long agentCgroup, AgentMounts mounts) {
        this.clock = clock;
        this.processes = new ProcessTable(agentCgroup);
        this.mounts = mounts;
    }

    Event event(Frame frame) {
        ProcessRef process = processes.of(frame);
        var fields = new FrameFields(frame, mounts);
        FrameType type = FrameType.ofCode(frame.type());
        if (type == null) {
            return unknown(frame, fields, process);
        }
        return switch (type) {
            case HEARTBEAT -> new Event.TracerHeartbeat(header(frame, fields, process), Counters.json(frame));
            case EXEC -> exec(frame, fields, process, fields.path(TlvType.EXE, "exe"));
            case EXEC_FAILED -> exec(frame, fields, process, fields.text(TlvType.NAME, "exe"));
            case FORK -> {
                Tlv parent = frame.find(TlvType.PARENT);
                yield new Event.ProcessFork(header(frame, fields, process), parent == null ? null : parent.u64(8));
            }
            case EXIT -> exit(frame, fields, process);
            case SIGNAL -> Signals.event(header(frame, fields, process), fields);
            case CONTAINER -> {
                Text root = fields.path(TlvType.PATH, "path");
                yield Containers.event(header(frame, fields, process), frame, root, fields, mounts);
            }
            case RUNNING -> {
                Text exe = fields.path(TlvType.EXE, "exe");
                yield new Event.ProcessRunning(header(frame, fields, process), exe);
            }
            case OPEN -> open(frame, fields, process);
            case CLOSE -> {
                Text path = fields.path(TlvType.PATH, "path");
                yield new Event.FileClose(header(frame, fields, process), path, null);
            }
            case IO -> io(frame, fields, process);
            case RENAME -> change(frame, fields, process, Kind.FILE_RENAME);
            case UNLINK -> change(frame, fields, process, Kind.FILE_UNLINK);
            case RMDIR -> change(frame, fields, process, Kind.FILE_RMDIR);
            case MKDIR -> change(frame, fields, process, Kind.FILE_MKDIR);
            case SYMLINK -> change(frame, fields, process, Kind.FILE_SYMLINK);
            case LINK -> change(frame, fields, process, Kind.FILE_LINK);
            case CHMOD -> change(frame, fields, process, Kind.FILE_CHMOD);
            case CHOWN -> change(frame, fields, process, Kind.FILE_CHOWN);
            case TRUNCATE -> change(frame, fields, process, Kind.FILE_TRUNCATE);
            case MMAP -> map(frame, fields, process);
            case MKNOD -> change(frame, fields, process, Kind.FILE_MKNOD);
            case ALLOCATE -> allocate(frame, fields, process);
            case UTIME -> change(frame, fields, process, Kind.FILE_UTIME);
            case CHATTR -> change(frame, fields, process, Kind.FILE_CHATTR);
            case XATTR -> attribute(frame, fields, process);
            case CONNECT -> call(frame, fields, process, Kind.NET_CONNECT);
            case ACCEPT -> call(frame, fields, process, Kind.NET_ACCEPT);
            case BIND -> call(frame, fields, process, Kind.NET_BIND);
            case LISTEN -> call(frame, fields, process, Kind.NET_LISTEN);
            case SEND -> call(frame, fields, process, Kind.NET_SEND);
            case SYN -> {
                Text exe = fields.path(TlvType.EXE, "exe");
                Tlv numbers = frame.find(TlvType.NUMBERS);
                yield new Event.NetSyn(
                        header(frame, fields, process),
                        fields.protocol(),
                        fields.local(),
                        fields.remote(),
                        numbers == null ? null : numbers.u64(0),
                        exe);
            }
            case FLOW -> flow(frame, fields, process);
            case DNS -> dns(frame, fields, process);
            case SOCKET -> socket(frame, fields, process);
            case CRED -> cred(frame, fields, process);
            case PRIVILEGE -> privilege(frame, fields, process);
        };
    }

    private EventHeader header(Frame frame, FrameFields fields, @Nullable ProcessRef process) {
        return new EventHeader(
                clock.toHostNs(frame.ktimeNs()),
                Source.GUEST,
                new GuestOrigin(frame.cpu(), frame.cpuSeq(), processes.actor(frame), fields.seen(), frame.container()),
                process,
                fields.marks());
    }

    private Event unknown(Frame frame, FrameFields fields, @Nullable ProcessRef process) {
        return new Event.RecorderFinding(header(frame, fields, process), new FindingDetail.UnknownFrame(frame.type()));
    }

    private Event exec(Frame frame, FrameFields fields, @Nullable ProcessRef process, @Nullable Text exe) {
        List<Text> argv = fields.strings(TlvType.ARGV, "argv");
        List<Text> env = fields.environmentNames();
        Text cwd = fields.path(TlvType.CWD, "cwd");
        return new Event.ProcessExec(header(frame, fields, process), exe, argv, env, cwd, frame.ret());
    }

    /// `ret` is a wait status: exit code in bits 8 to 15, signal in the low seven.
    private Event exit(Frame frame, FrameFields fields, @Nullable ProcessRef process) {
        int signal = (int) frame.ret() & 0x7f;
        Integer code = signal == 0 ? (int) (frame.ret() >> 8) & 0xff : null;
        return new Event.ProcessExit(header(frame, fields, process), code, signal == 0 ? null : signal);
    }

    private Event open(Frame frame, FrameFields fields, @Nullable ProcessRef process) {
        Text path = frame.ret() < 0 ? fields.text(TlvType.NAME, "path") : fields.path(TlvType.PATH, "path");
        Tlv file = frame.find(TlvType.FILE);
        Integer mode = file == null || frame.ret() < 0 ? null : (int) file.u32(16) & 0xffff;
        long flags = file == null ? 0 : file.u32(20);
        EventHeader header = header(frame, fields, process);
        return new Event.FileOpen(header, path, flags, mode, frame.is(Frame.CREATED), frame.ret());
    }

    private Event io(Frame frame, FrameFields fields, @Nullable ProcessRef process) {
        Text path = fields.path(TlvType.PATH, "path");
        Tlv io = frame.find(TlvType.IO);
        if (io == null || frame.is(Frame.REQUESTED)) {
            fields.unread("bytesRead");
            fields.unread("bytesWritten");
        }
        EventHeader header = header(frame, fields, process);
        Long refused = frame.ret() < 0 ? (Long) frame.ret() : null;
        if (io == null) {
            return new Event.FileIo(header, path, 0, 0, 0, 0, null, null, refused);
        }
        boolean placed = io.u64(32) != -1;
        return new Event.FileIo(
                header,
                path,
                io.u64(8),
                io.u64(24),
                io.u64(0),
                io.u64(16),
                placed ? io.u64(32) : null,
                placed ? io.u64(40) : null,
                refused);
    }

    private Event change(Frame frame, FrameFields fields, @Nullable ProcessRef process, Kind kind) {
        // A call that failed before its names were resolved has them as the caller gave them.
        boolean resolved = frame.find(TlvType.NAME) == null;
        Text path = resolved ? fields.path(TlvType.PATH, "path") : fields.text(TlvType.NAME, "path");
        Text to = resolved && kind != Kind.FILE_SYMLINK
                ? fields.path(TlvType.PATH_TO, "to")
                : fields.text(TlvType.TARGET, "to");
        boolean mode = resolved && (kind == Kind.FILE_CHMOD || kind == Kind.FILE_MKDIR || kind == Kind.FILE_MKNOD);
        boolean owner = kind == Kind.FILE_CHOWN;
        boolean size = kind == Kind.FILE_TRUNCATE
                || kind == Kind.FILE_CHATTR
                || kind == Kind.FILE_RENAME && fields.number(0) != 0;
        return new Event.FileChange(
                header(frame, fields, process),
                kind,
                path,
                to,
                mode ? (int) fields.number(0) & 0xffff : null,
                owner ? id(fields.number(0)) : null,
                owner ? id(fields.number(1)) : null,
                size ? fields.number(0) : null,
                frame.ret());
    }

    /// The value's length, and of those that grant or deny something the first octets.
    private Event attribute(Frame frame, FrameFields fields, @Nullable ProcessRef process) {
        Text path = fields.path(TlvType.PATH, "path");
        Text name = fields.text(TlvType.NAME, "what");
        boolean removed = fields.number(0) == 1;
        Tlv value = frame.find(TlvType.PAYLOAD);
        String detail = null;
        if (!removed) {
            Detail said = Detail.of("bytes", fields.number(1));
            boolean grants = name != null && GRANTING.stream().anyMatch(name.toString()::startsWith);
            if (grants && value != null && !value.is(Tlv.FAULT)) {
                said.and("value", HexFormat.of().formatHex(value.toBytes()));
            }
            detail = said.toString();
        }
        return new Event.FileXattr(header(frame, fields, process), path, name, removed, detail, frame.ret());
    }

    private Event allocate(Frame frame, FrameFields fields, @Nullable ProcessRef process) {
        Text path = fields.path(TlvType.PATH, "path");
        var mode = new AllocationMode((int) fields.number(1));
        return new Event.FileAllocate(header(frame, fields, process), path, fields.number(0), mode, frame.ret());
    }

    private Event map(Frame frame, FrameFields fields, @Nullable ProcessRef process) {
        Text path = fields.path(TlvType.PATH, "path");
        var protection = new Protection(fields.number(0));
        return new Event.FileMap(header(frame, fields, process), path, protection, frame.ret());
    }

    /// A user or group id; null for the -1 that leaves one as it is.
    private static @Nullable Integer id(long value) {
        return (int) value == -1 ? null : (int) value;
    }

    private Event call(Frame frame, FrameFields fields, @Nullable ProcessRef process, Kind kind) {
        Text name = fields.text(TlvType.NAME, "path");
        return new Event.NetCall(
                header(frame, fields, process),
                kind,
                fields.protocol(),
                fields.local(),
                fields.remote(),
                name == null ? null : unixName(name),
                frame.ret());
    }

    /// A Unix socket's name: a path ends at its NUL; a name in the abstract namespace begins with one, shown
    /// as `@`.
    private static Text unixName(Text name) {
        byte[] octets = name.toBytes();
        if (octets.length > 0 && octets[0] == 0) {
            octets[0] = '@';
            return Text.copyOf(octets, 0, octets.length);
        }
        int length = 0;
        while (length < octets.length && octets[length] != 0) {
            length++;
        }
        return Text.copyOf(octets, 0, length);
    }

    private Event flow(Frame frame, FrameFields fields, @Nullable ProcessRef process) {
        String protocol = fields.protocol();
        var key = new FlowKey(protocol, fields.local(), fields.remote());
        Tlv flow = frame.find(TlvType.FLOW);
        long out = flow == null ? 0 : flow.u64(0);
        long in = flow == null ? 0 : flow.u64(8);
        if (flow == null) {
            fields.unread("bytesOut");
            fields.unread("bytesIn");
        }
        long[] before = told.remove(key);
        if (protocol.equals("tcp") && frame.is(Frame.FLUSH) && told.size() < FLOWS_MAX) {
            told.put(key, new long[] {out, in});
        }
        Tlv datagrams = protocol.equals("udp") ? flow : null;
        return new Event.NetFlow(
                header(frame, fields, process),
                protocol,
                key.local(),
                key.remote(),
                null,
                before == null ? out : Math.max(0, out - before[0]),
                before == null ? in : Math.max(0, in - before[1]),
                datagrams == null ? null : datagrams.u64(16),
                datagrams == null ? null : datagrams.u64(24),
                frame.is(Frame.CLOSED) ? "closed" : "unfinished");
    }

    private Event dns(Frame frame, FrameFields fields, @Nullable ProcessRef process) {
        Tlv payload = frame.find(TlvType.PAYLOAD);
        DnsMessage message = payload == null || payload.is(Tlv.FAULT) ? null : DnsMessage.parse(payload.toBytes());
        EventHeader header = header(frame, fields, process);
        if (message == null) {
            return new Event.RecorderFinding(header, new FindingDetail.DnsUnreadable());
        }
        return new Event.DnsQuery(
                header,
                Text.of(message.name()),
                message.type(),
                message.answers().stream().map(Text::of).toList(),
                fields.protocol(),
                fields.local(),
                fields.remote());
    }

    private Event socket(Frame frame, FrameFields fields, @Nullable ProcessRef process) {
        String detail = Detail.of("family", fields.number(0))
                .and("type", fields.number(1))
                .and("protocol", fields.number(2))
                .toString();
        return new Event.PrivilegeUse(header(frame, fields, process), "socket", null, detail, frame.ret());
    }

    private Event cred(Frame frame, FrameFields fields, @Nullable ProcessRef process) {
        Tlv before = frame.find(TlvType.CRED);
        Tlv after = frame.findSecond(TlvType.CRED);
        boolean readable = before != null && after != null && !before.is(Tlv.FAULT) && !after.is(Tlv.FAULT);
        if (!readable || before == null || after == null) {
            fields.unread("credentials");
            return new Event.RecorderFinding(header(frame, fields, process), new FindingDetail.CredUnreadable());
        }
        return new Event.CredChange(
                header(frame, fields, process),
                (int) before.u32(16),
                (int) after.u32(16),
                (int) before.u32(20),
                (int) after.u32(20),
                before.u64(40),
                after.u64(40));
    }

    private Event privilege(Frame frame, FrameFields fields, @Nullable ProcessRef process) {
        long code = fields.number(0);
        String what = code > 0 && code < PRIVILEGES.size() ? PRIVILEGES.get((int) code) : "other";
        Text path = fields.path(TlvType.PATH, "path");
        Detail detail = Detail.of("a", fields.number(1)).and("b", fields.number(2));
        put(detail, "to", fields.path(TlvType.PATH_TO, "to"));
        put(detail, "type", fields.text(TlvType.NAME, "type"));
        put(detail, "source", fields.text(TlvType.TARGET, "source"));
        fields.seenTo(detail);
        return new Event.PrivilegeUse(header(frame, fields, process), what, path, detail.toString(), frame.ret());
    }

    private static void put(Detail detail, String name, @Nullable Text value) {
        if (value != null) {
            detail.and(name, value.toString());
        }
    }
}
