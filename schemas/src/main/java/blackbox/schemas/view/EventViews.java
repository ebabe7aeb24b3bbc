package blackbox.schemas.view;

import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import java.util.EnumMap;
import java.util.Map;

/// A reader's views: created once, then laid over each row. Owned by the reader's thread.
public final class EventViews {

    private final EventView unknown = new EventView.Unknown();
    private final Map<Kind, EventView> views = new EnumMap<>(Kind.class);

    public EventViews() {
        for (Kind kind : Kind.values()) {
            views.put(kind, view(kind));
        }
    }

    /// The event that `row` holds, valid until the next call.
    public EventView of(Row row) {
        Kind kind = row.has(Column.KIND) ? Kind.ofCode(row.number(Column.KIND)) : null;
        return (kind == null ? unknown : views.getOrDefault(kind, unknown)).over(row);
    }

    private static EventView view(Kind kind) {
        return switch (kind) {
            case PROCESS_EXEC -> new ProcessView.Exec();
            case PROCESS_FORK -> new ProcessView.Fork();
            case PROCESS_EXIT -> new ProcessView.Exit();
            case PROCESS_SIGNAL -> new ProcessView.Signal();
            case PROCESS_CONTAINER -> new ProcessView.Container();
            case PROCESS_RUNNING -> new ProcessView.Running();
            case FILE_OPEN -> new FileView.Open();
            case FILE_CLOSE -> new FileView.Close();
            case FILE_IO -> new FileView.Io();
            case FILE_RENAME -> new FileView.Rename();
            case FILE_UNLINK -> new FileView.Unlink();
            case FILE_RMDIR -> new FileView.Rmdir();
            case FILE_MKDIR -> new FileView.Mkdir();
            case FILE_SYMLINK -> new FileView.Symlink();
            case FILE_LINK -> new FileView.Link();
            case FILE_CHMOD -> new FileView.Chmod();
            case FILE_CHOWN -> new FileView.Chown();
            case FILE_TRUNCATE -> new FileView.Truncate();
            case FILE_MMAP -> new FileView.Mmap();
            case FILE_MKNOD -> new FileView.Mknod();
            case FILE_ALLOCATE -> new FileView.Allocate();
            case FILE_UTIME -> new FileView.Utime();
            case FILE_CHATTR -> new FileView.Chattr();
            case FILE_XATTR -> new FileView.Xattr();
            case NET_CONNECT -> new NetView.Connect();
            case NET_SYN -> new NetView.Syn();
            case NET_LISTEN -> new NetView.Listen();
            case NET_BIND -> new NetView.Bind();
            case NET_ACCEPT -> new NetView.Accept();
            case NET_SEND -> new NetView.Send();
            case NET_FLOW -> new NetView.Flow();
            case DNS_QUERY -> new NetView.Dns();
            case NET_MISS -> new NetView.Miss();
            case EGRESS_DECISION -> new NetView.Decision();
            case HTTP_EXCHANGE -> new NetView.Exchange();
            case EGRESS_SECRET -> new NetView.SecretUse();
            case EGRESS_POLICY -> new RunView.Policy();
            case LLM_CALL -> new NetView.ModelCall();
            case LLM_TOOL -> new NetView.ToolUse();
            case MCP_CALL -> new NetView.McpCall();
            case CRED_CHANGE -> new PrivilegeView.Credentials();
            case PRIVILEGE_USE -> new PrivilegeView.Use();
            case RECORDER_LOSS -> new RecorderView.Loss();
            case RECORDER_HEARTBEAT -> new RecorderView.Heartbeat();
            case TRACER_HEARTBEAT -> new RecorderView.TracerHeartbeat();
            case RECORDER_FINDING -> new RecorderView.Noticed();
            case RECORDER_ALERT -> new RecorderView.Alert();
            case RECORDER_RULES -> new RecorderView.Rules();
            case TRACER_READY -> new RecorderView.TracerReady();
            case VM_LIFECYCLE -> new VmView.Lifecycle();
            case VM_CAPTURE -> new VmView.Capture();
            case CONTROL_COMMAND -> new VmView.Command();
            case CONTROL_PROBE -> new VmView.Probe();
            case AGENT_START -> new RunView.AgentStart();
            case AGENT_EXIT -> new RunView.AgentExit();
            case RUN_OPEN -> new RunView.Open();
            case RUN_CLOSE -> new RunView.Close();
            case ACCESS_REQUEST -> new RunView.Request();
            case ACCESS_ANSWER -> new RunView.Answer();
            case ACCESS_GRANTS -> new RunView.Grants();
        };
    }
}
