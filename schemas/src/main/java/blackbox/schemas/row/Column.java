package blackbox.schemas.row;

import org.jspecify.annotations.Nullable;

/// The columns that make up a leaf. The field id is the key in the leaf's encoding and the Iceberg field id
/// in the table; ids are never reused, and a leaf lists its columns by ascending id.
///
/// Units are last in a name: `_ns` nanoseconds (`at_ns` since 1970-01-01 UTC, `start_ns` since the guest booted).
public enum Column {
    /// What kind of event: a code of `Kind`, stored in the table as the kind's name.
    KIND(1, "kind", ColumnType.INT),
    /// When: nanoseconds since the epoch, on the host's clock (guest events are mapped to it).
    AT_NS(2, "at_ns", ColumnType.LONG),
    /// Who saw it: 1 guest, 2 host; stored in the table as the name.
    SOURCE(3, "source", ColumnType.INT),
    /// The guest CPU that emitted the frame.
    CPU(4, "cpu", ColumnType.INT),
    /// The frame's per-CPU sequence number, from 1, incremented before every attempt to emit: a gap is a
    /// loss.
    CPU_SEQ(5, "cpu_seq", ColumnType.LONG),
    /// Thread group id: the process's pid.
    PID(6, "pid", ColumnType.INT),
    /// Thread id, only if it differs from the pid.
    TID(7, "tid", ColumnType.INT),
    /// The parent's pid at that time, from the kernel.
    PPID(8, "ppid", ColumnType.INT),
    /// Start of the process on the guest's boot clock; with the pid it names the process within a run.
    START_NS(9, "start_ns", ColumnType.LONG),
    /// Task name, at most 15 octets.
    COMM(10, "comm", ColumnType.STRING),
    /// Real user id.
    UID(11, "uid", ColumnType.INT),
    /// Path of the executed program.
    EXE(12, "exe", ColumnType.STRING),
    /// Arguments; the first is the name by which the program was called.
    ARGV(13, "argv", ColumnType.STRING_LIST),
    /// Names of the environment variables; values never leave the recorder's memory.
    ENV(14, "env", ColumnType.STRING_LIST),
    /// Working directory.
    CWD(15, "cwd", ColumnType.STRING),
    /// The path that was acted on, as the kernel names it.
    PATH(16, "path", ColumnType.STRING),
    /// The second path: target of a rename or link.
    PATH_TO(17, "path_to", ColumnType.STRING),
    /// What the call returned: 0 or more, or a negated errno.
    RET(18, "ret", ColumnType.LONG),
    /// Flags of the call: open(2) flags, mmap(2) protection.
    FLAGS(19, "flags", ColumnType.LONG),
    /// File mode bits.
    MODE(20, "mode", ColumnType.INT),
    /// 1 if the call created the file.
    CREATED(21, "created", ColumnType.INT),
    BYTES_READ(22, "bytes_read", ColumnType.LONG),
    BYTES_WRITTEN(23, "bytes_written", ColumnType.LONG),
    /// Number of read calls folded into this row.
    READS(24, "reads", ColumnType.LONG),
    /// Number of write calls folded into this row.
    WRITES(25, "writes", ColumnType.LONG),
    /// Lowest offset touched.
    OFFSET_FIRST(26, "offset_first", ColumnType.LONG),
    /// Offset just after the highest octet touched.
    OFFSET_LAST(27, "offset_last", ColumnType.LONG),
    /// `tcp`, `udp`, or an IP protocol number in decimal.
    PROTOCOL(28, "protocol", ColumnType.STRING),
    LOCAL_IP(29, "local_ip", ColumnType.STRING),
    LOCAL_PORT(30, "local_port", ColumnType.INT),
    REMOTE_IP(31, "remote_ip", ColumnType.STRING),
    REMOTE_PORT(32, "remote_port", ColumnType.INT),
    /// Name of the peer: the DNS question that led to the address, or the TLS server name.
    HOST(33, "host", ColumnType.STRING),
    /// Payload octets sent by the guest, without headers and retransmissions.
    BYTES_OUT(34, "bytes_out", ColumnType.LONG),
    /// Payload octets received by the guest.
    BYTES_IN(35, "bytes_in", ColumnType.LONG),
    PACKETS_OUT(36, "packets_out", ColumnType.LONG),
    PACKETS_IN(37, "packets_in", ColumnType.LONG),
    /// DNS question type (1 A, 28 AAAA, …).
    DNS_TYPE(38, "dns_type", ColumnType.INT),
    /// DNS answers: addresses and names.
    ANSWERS(39, "answers", ColumnType.STRING_LIST),
    /// Start of the parent process on the guest's boot clock.
    PARENT_START_NS(40, "parent_start_ns", ColumnType.LONG),
    EXIT_CODE(41, "exit_code", ColumnType.INT),
    /// The signal that ended the process.
    SIGNAL(42, "signal", ColumnType.INT),
    UID_TO(43, "uid_to", ColumnType.INT),
    GID(44, "gid", ColumnType.INT),
    GID_TO(45, "gid_to", ColumnType.INT),
    /// Effective capabilities before, as a bit mask.
    CAPS(46, "caps", ColumnType.LONG),
    /// Effective capabilities after.
    CAPS_TO(47, "caps_to", ColumnType.LONG),
    /// How many events were lost, by the loss this row declares (or in all, in a heartbeat and at the close).
    LOST(48, "lost", ColumnType.LONG),
    /// How many leaves the run has, in a heartbeat and at the close.
    EVENTS(49, "events", ColumnType.LONG),
    /// The batch's number within its run, from 0.
    BATCH(50, "batch", ColumnType.LONG),
    /// Hash of the batch before this one.
    PREVIOUS(51, "previous", ColumnType.BYTES),
    /// What happened, as a short token: a lifecycle event, a privileged operation, a finding.
    WHAT(52, "what", ColumnType.STRING),
    /// More about it, as one JSON object.
    DETAIL(53, "detail", ColumnType.STRING),
    /// Values that were cut, each as `name=original size`.
    TRUNCATED(54, "truncated", ColumnType.STRING_LIST),
    /// Values that could not be read.
    UNREAD(55, "unread", ColumnType.STRING_LIST),
    /// Whose act it is, in the guest: `agent` or `supervisor`; not there where it is not known.
    ACTOR(56, "actor", ColumnType.STRING),
    /// Number of the container in the guest in which it was done; not there where the agent's first processes are.
    CONTAINER(57, "container", ColumnType.INT);

    /// One more than the highest field id that a version 1 leaf can have.
    public static final int SLOTS = 64;

    private static final @Nullable Column[] BY_FIELD_ID = new Column[SLOTS];

    static {
        for (Column column : values()) {
            BY_FIELD_ID[column.fieldId] = column;
        }
    }

    private final int fieldId;
    private final String columnName;
    private final ColumnType type;

    Column(int fieldId, String columnName, ColumnType type) {
        this.fieldId = fieldId;
        this.columnName = columnName;
        this.type = type;
    }

    /// Key in the leaf and Iceberg field id, 1 to 63.
    public int fieldId() {
        return fieldId;
    }

    /// The column's name in the table.
    public String columnName() {
        return columnName;
    }

    public ColumnType type() {
        return type;
    }

    /// The column with that field id.
    ///
    /// @throws IllegalArgumentException when none has it
    public static Column of(int fieldId) {
        Column column = byFieldId(fieldId);
        if (column == null) {
            throw new IllegalArgumentException("no column has field id " + fieldId);
        }
        return column;
    }

    /// The column with that field id, or null where none has it.
    static @Nullable Column byFieldId(long fieldId) {
        return fieldId > 0 && fieldId < SLOTS ? BY_FIELD_ID[(int) fieldId] : null;
    }
}
