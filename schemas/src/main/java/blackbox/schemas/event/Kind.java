package blackbox.schemas.event;

import org.jspecify.annotations.Nullable;

/// An event's kind. Codes are stored in leaves and never reused; people and tables see the names.
public enum Kind {
    PROCESS_EXEC(1, "process.exec"),
    PROCESS_FORK(2, "process.fork"),
    PROCESS_EXIT(3, "process.exit"),
    /// A process that already ran when the tracer became ready.
    PROCESS_RUNNING(4, "process.running"),
    /// A process sent another one a signal, or the kernel killed it.
    PROCESS_SIGNAL(5, "process.signal"),
    /// A container in the guest, told by the first process that comes there.
    PROCESS_CONTAINER(6, "process.container"),
    FILE_OPEN(10, "file.open"),
    /// The last reference to an open file was dropped without reads or writes by this process.
    FILE_CLOSE(11, "file.close"),
    /// Reads and writes of one process on one open file, folded.
    FILE_IO(12, "file.io"),
    FILE_RENAME(13, "file.rename"),
    FILE_UNLINK(14, "file.unlink"),
    FILE_RMDIR(15, "file.rmdir"),
    FILE_MKDIR(16, "file.mkdir"),
    FILE_SYMLINK(17, "file.symlink"),
    FILE_LINK(18, "file.link"),
    FILE_CHMOD(19, "file.chmod"),
    FILE_CHOWN(20, "file.chown"),
    FILE_TRUNCATE(21, "file.truncate"),
    /// A shared writable mapping: writes through it are not seen one by one.
    FILE_MMAP(22, "file.mmap"),
    FILE_MKNOD(23, "file.mknod"),
    /// A range of a file was given room, or lost its content (fallocate).
    FILE_ALLOCATE(24, "file.allocate"),
    /// Its times were set.
    FILE_UTIME(25, "file.utime"),
    /// An extended attribute was set or removed.
    FILE_XATTR(26, "file.xattr"),
    /// Its attributes as of chattr(1) were set: immutable, append-only and the like.
    FILE_CHATTR(27, "file.chattr"),
    NET_CONNECT(30, "net.connect"),
    NET_LISTEN(31, "net.listen"),
    NET_ACCEPT(32, "net.accept"),
    /// First datagram of a process to a destination.
    NET_SEND(33, "net.send"),
    /// A connection or datagram exchange with its byte counts, when it ended or the run did.
    NET_FLOW(34, "net.flow"),
    DNS_QUERY(35, "dns.query"),
    /// A replayed run asked the network for something that its recording does not contain.
    NET_MISS(36, "net.miss"),
    /// The egress gateway allowed something or refused it.
    EGRESS_DECISION(37, "egress.decision"),
    /// A piece of the policy by which the egress gateway decides.
    EGRESS_POLICY(38, "egress.policy"),
    /// An HTTP request that the egress gateway judged, and what came of it.
    HTTP_EXCHANGE(39, "http.exchange"),
    CRED_CHANGE(40, "cred.change"),
    /// A use of a privileged interface: ptrace, mount, module load, bpf, setns, unshare, io_uring.
    PRIVILEGE_USE(41, "privilege.use"),
    /// A model was called behind the egress gateway.
    LLM_CALL(42, "llm.call"),
    /// A model asked for a tool.
    LLM_TOOL(43, "llm.tool"),
    /// A request to an MCP server behind the egress gateway.
    MCP_CALL(44, "mcp.call"),
    /// A secret was put into a request behind the egress gateway, or was not, or came back.
    EGRESS_SECRET(45, "egress.secret"),
    /// The kernel is about to send the first segment of a TCP connection.
    NET_SYN(46, "net.syn"),
    /// A socket was bound to an address and a port.
    NET_BIND(47, "net.bind"),
    RECORDER_LOSS(50, "recorder.loss"),
    /// The host's heartbeat: the last leaf of every batch.
    RECORDER_HEARTBEAT(51, "recorder.heartbeat"),
    /// The guest tracer's heartbeat with its counters.
    TRACER_HEARTBEAT(52, "tracer.heartbeat"),
    /// Something the recorder noticed: a guest that went quiet, a malformed frame.
    RECORDER_FINDING(53, "recorder.finding"),
    /// Which probes are attached, and that the canary came through.
    TRACER_READY(54, "tracer.ready"),
    /// A detection rule held of the events before it.
    RECORDER_ALERT(55, "recorder.alert"),
    /// By which detection rules the run is watched, and what they had found at its end.
    RECORDER_RULES(56, "recorder.rules"),
    VM_LIFECYCLE(60, "vm.lifecycle"),
    /// A segment of a file that the host stores beside the events, by digest.
    VM_CAPTURE(61, "vm.capture"),
    /// The agent's first process exists: what it does begins here.
    AGENT_START(62, "agent.start"),
    /// The agent has ended, with all its processes.
    AGENT_EXIT(63, "agent.exit"),
    /// Somebody on the host paused the run, let it go on or ended it.
    CONTROL_COMMAND(64, "control.command"),
    /// The way that such commands take was tried.
    CONTROL_PROBE(65, "control.probe"),
    /// First leaf: what was started, from which image and snapshot, by which recorder.
    RUN_OPEN(70, "run.open"),
    /// Closes the run with its counts; the last heartbeat follows it.
    RUN_CLOSE(71, "run.close"),
    /// Somebody asks the service something.
    ACCESS_REQUEST(80, "access.request"),
    /// What the service answered to that.
    ACCESS_ANSWER(81, "access.answer"),
    /// Who may ask the service what.
    ACCESS_GRANTS(82, "access.grants");

    private static final @Nullable Kind[] BY_CODE = new Kind[128];

    static {
        for (Kind kind : values()) {
            BY_CODE[kind.code] = kind;
        }
    }

    private final int code;
    private final String eventName;

    Kind(int code, String eventName) {
        this.code = code;
        this.eventName = eventName;
    }

    /// The code in the leaf, 1 to 127.
    public int code() {
        return code;
    }

    /// The name, as in `file.open`.
    public String eventName() {
        return eventName;
    }

    /// The kind with that code, or null.
    public static @Nullable Kind ofCode(long code) {
        return code >= 0 && code < BY_CODE.length ? BY_CODE[(int) code] : null;
    }

    /// The kind with that name, or null.
    public static @Nullable Kind ofName(String name) {
        for (Kind kind : values()) {
            if (kind.eventName.equals(name)) {
                return kind;
            }
        }
        return null;
    }
}
