package blackbox.replay.divergence.strand;

import blackbox.replay.content.NameTime;
import blackbox.replay.divergence.text.KeyedHash;
import blackbox.replay.divergence.text.KnownNames;
import blackbox.replay.divergence.text.MadeUpNames;
import blackbox.replay.divergence.text.TextNormalizer;
import blackbox.schemas.net.IpAddress;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.ListCursor;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.FileEffect;
import blackbox.schemas.view.FileView;
import blackbox.schemas.view.NetView;
import blackbox.schemas.view.PrivilegeView;
import blackbox.schemas.view.ProcessView;
import blackbox.schemas.view.RecorderView;
import blackbox.schemas.view.RunView;
import blackbox.schemas.view.VmView;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The identity of an event, apart from its time and the numbers that the kernel assigned: the hash of its
/// kind and of the columns that say what was done, with identifiers renamed. Keeps the renamings of one side;
/// owned by one thread.
final class EventIdentity {

    /// Uses of a privilege whose first number is a process's.
    private static final Set<String> TELL_PROCESSES =
            Set.of("ptrace", "kill", "prlimit", "vm_read", "vm_write", "perf_event");

    /// Linux assigns local ports from here on (net.ipv4.ip_local_port_range).
    private static final int EPHEMERAL_PORT_MIN = 32_768;

    private static final int SIGPIPE = 13;

    /// Distinguishes what times in names count as from other hashes.
    private static final long TIMED = 13;

    private static final int LANE_BITS = 16;

    private static final Column[] FOLDED = {
        Column.BYTES_READ, Column.BYTES_WRITTEN, Column.READS, Column.WRITES, Column.OFFSET_FIRST, Column.OFFSET_LAST
    };

    private static final long COMPARED = bits(
            Stream.of(Column.values()).filter(EventIdentity::saysWhatWasDone).toArray(Column[]::new));
    private static final long DETAIL = bits(Column.DETAIL);
    private static final long UID = bits(Column.UID);
    private static final long WHAT = bits(Column.WHAT);
    private static final long HOW_IT_ENDED = bits(Column.EXIT_CODE, Column.SIGNAL);

    /// The columns that say what the event did, where it has them.
    private static long compared(EventView event) {
        return switch (event) {
            case PrivilegeView.Credentials _ -> COMPARED | UID;
            case PrivilegeView.Use use -> tellsProcesses(use) ? COMPARED & ~DETAIL : COMPARED;
            case NetView.Flow _ -> COMPARED & ~WHAT;
            case RunView.Close _ -> HOW_IT_ENDED;
            case FileView.Xattr _ -> COMPARED;
            // Its detail is a namespace, or a process: numbers that the kernel
            // assigned.
            case ProcessView.Exec _, ProcessView.Running _, ProcessView.Signal _, ProcessView.Container _, FileView _ ->
                COMPARED & ~DETAIL;
            case ProcessView.Fork _,
                    ProcessView.Exit _,
                    NetView.Call _,
                    NetView.Dns _,
                    NetView.Miss _,
                    NetView.Decision _,
                    NetView.SecretUse _,
                    NetView.Exchange _,
                    NetView.AgentCall _,
                    RecorderView _,
                    RunView.Open _,
                    RunView.Access _,
                    RunView.AgentStart _,
                    RunView.AgentExit _,
                    RunView.Policy _,
                    VmView _,
                    EventView.Unknown _ -> COMPARED;
        };
    }

    /// Whether a column says what was done. The others say when, or give numbers that the kernel assigned, which
    /// differ in every execution, or are compared in a way of their own.
    private static boolean saysWhatWasDone(Column column) {
        return switch (column) {
            case KIND,
                    AT_NS,
                    SOURCE,
                    CPU,
                    CPU_SEQ,
                    PID,
                    TID,
                    PPID,
                    START_NS,
                    COMM,
                    UID,
                    RET,
                    LOCAL_IP,
                    LOCAL_PORT,
                    REMOTE_PORT,
                    PACKETS_OUT,
                    PACKETS_IN,
                    PARENT_START_NS,
                    LOST,
                    EVENTS,
                    BATCH,
                    PREVIOUS,
                    ACTOR,
                    CONTAINER -> false;
            case EXE,
                    ARGV,
                    ENV,
                    CWD,
                    PATH,
                    PATH_TO,
                    FLAGS,
                    MODE,
                    CREATED,
                    BYTES_READ,
                    BYTES_WRITTEN,
                    READS,
                    WRITES,
                    OFFSET_FIRST,
                    OFFSET_LAST,
                    PROTOCOL,
                    REMOTE_IP,
                    HOST,
                    BYTES_OUT,
                    BYTES_IN,
                    DNS_TYPE,
                    ANSWERS,
                    EXIT_CODE,
                    SIGNAL,
                    UID_TO,
                    GID,
                    GID_TO,
                    CAPS,
                    CAPS_TO,
                    WHAT,
                    DETAIL,
                    TRUNCATED,
                    UNREAD -> true;
        };
    }

    private static long bits(Column... columns) {
        long bits = 0;
        for (Column column : columns) {
            bits |= 1L << column.fieldId();
        }
        return bits;
    }

    private final KeyedHash hash;
    private final MadeUpNames names;
    private final TextNormalizer normalizer;
    private long pathHash;
    private boolean namesFile;
    private long portsLane;
    private long kernelLane;

    EventIdentity(KeyedHash hash, KnownNames known) {
        this.hash = hash;
        this.names = new MadeUpNames(hash, known);
        this.normalizer = new TextNormalizer(hash, names, known);
    }

    /// The names that programs of this side made up.
    MadeUpNames names() {
        return names;
    }

    /// A process number as a word, for names that a process makes from it; 0 for numbers so short that they would
    /// match by chance.
    long word(long processNumber) {
        return processNumber < 100 ? 0 : normalizer.word(processNumber);
    }

    /// The token of an event.
    Token token(EventView event, long index, long ordinal, @Nullable GuestProcess process) {
        Row row = event.row();
        int kind = (int) row.number(Column.KIND);
        normalizer.next();
        normalizer.begin(process == null ? 0 : process.word, process == null ? 0 : process.parentWord);
        portsLane = 0;
        kernelLane = 0;
        learn(event, process);
        pathHash = row.has(Column.PATH) ? text(row, Column.PATH) : 0;
        namesFile = !(event instanceof FileView.Symlink);
        long columns = row.presentMask() & compared(event);
        long volume = volume(event);
        if (event instanceof FileView.Io && isOfTheKernel(row)) {
            columns &= ~bits(FOLDED);
            kernelLane = volume;
            volume = 0;
        }
        long subject = event instanceof NetView.Flow ? remoteEnd(row, kind) : pathHash;
        long canon = columns(row, kind, columns);
        canon = result(row, canon);
        canon = ports(row, portsOf(event), canon);
        boolean writes = event instanceof FileView file && file.mayChange();
        return new Token(
                index,
                ordinal,
                sort(event),
                canon,
                lanes(row),
                subject,
                volume,
                writes,
                names.used(),
                EventReach.of(event),
                ending(event),
                normalizer.numbersLane() == 0 ? canon : asWritten(event, kind, columns));
    }

    /// What an event is if a number in it is not its process's, but just that number. The last to ask for an
    /// event.
    private long asWritten(EventView event, int kind, long columns) {
        Row row = event.row();
        normalizer.begin(0, 0);
        pathHash = row.has(Column.PATH) ? text(row, Column.PATH) : 0;
        return ports(row, portsOf(event), result(row, columns(row, kind, columns)));
    }

    private static Token.Ending ending(EventView event) {
        if (!(event instanceof ProcessView.Exit exit)) {
            return Token.Ending.OTHER;
        }
        Long signal = exit.signal();
        Long code = exit.exitCode();
        if (signal != null && signal != 0) {
            return signal == SIGPIPE ? Token.Ending.UNREAD : Token.Ending.OTHER;
        }
        return code != null && code == 0 ? Token.Ending.DONE : Token.Ending.OTHER;
    }

    private static Token.Sort sort(EventView event) {
        return switch (event) {
            case FileView.Io _ -> Token.Sort.FILE_IO;
            case FileView.Open _, FileView.Close _ -> Token.Sort.ACCESS;
            case NetView.Flow _ -> Token.Sort.FLOW;
            case NetView.Miss _ -> Token.Sort.MISS;
            case ProcessView.Exit _ -> Token.Sort.PROCESS_END;
            case FileView.ToName failed when failed.failed() -> Token.Sort.OTHER;
            case ProcessView.Exec _, PrivilegeView _, FileView.ToName _ -> Token.Sort.TURNING_POINT;
            case ProcessView _, FileView _, NetView _, RecorderView _, VmView _, RunView _, EventView.Unknown _ ->
                Token.Sort.OTHER;
        };
    }

    /// What identifies a process among its siblings: the program that it runs and its arguments.
    long program(Row row, @Nullable GuestProcess process) {
        normalizer.begin(process == null ? 0 : process.word, process == null ? 0 : process.parentWord);
        return columns(row, 0, row.presentMask() & bits(Column.EXE, Column.ARGV));
    }

    /// The hash of a flow's protocol and remote end.
    long flow(Row row) {
        normalizer.begin(0, 0);
        long canon = columns(row, 0, row.presentMask() & bits(Column.PROTOCOL, Column.REMOTE_IP));
        return ports(row, portsOfFlow(row), canon);
    }

    /// The hash of a DNS question.
    long question(Row row) {
        normalizer.begin(0, 0);
        return columns(row, 0, row.presentMask() & bits(Column.HOST, Column.DNS_TYPE, Column.PROTOCOL));
    }

    private void learn(EventView event, @Nullable GuestProcess process) {
        if (process == null) {
            return;
        }
        if (event instanceof FileView file && event.row().has(Column.PATH)) {
            NameUse use = nameUse(file);
            learnName(file, use);
            learnTime(file, use, process);
        }
        Long port = event instanceof NetView.Listen listen ? listen.localPort() : null;
        if (port != null && isEphemeral(port)) {
            normalizer.renamePort(normalizer.word(port), hash.mix(process.strand.group, process.nextListen()));
        }
    }

    private void learnName(FileView file, NameUse use) {
        if (use == NameUse.NONE) {
            return;
        }
        Row row = file.row();
        long process = hash.mix(row.number(Column.PID), row.has(Column.START_NS) ? row.number(Column.START_NS) : 0);
        byte[] array = row.array(Column.PATH);
        int offset = row.offset(Column.PATH);
        int length = row.length(Column.PATH);
        if (use == NameUse.TAKES_AWAY) {
            normalizer.gone(array, offset, length, process);
        } else {
            normalizer.created(array, offset, length, process, isKeptToItself(file));
        }
    }

    private void learnTime(FileView file, NameUse use, GuestProcess process) {
        boolean madeUp = use == NameUse.CREATES_ALONE && isKeptToItself(file);
        if (madeUp || !file.effects().contains(FileEffect.CREATES)) {
            return;
        }
        Row row = file.row();
        boolean timed = normalizer.createdIn(
                row.array(Column.PATH),
                row.offset(Column.PATH),
                row.length(Column.PATH),
                NameTime.window(process.beganNs, file.atNs()),
                hash.mix(process.strand.group, TIMED, process.timed));
        process.timed += timed ? 1 : 0;
    }

    /// What a call does with the name: creates something only where there was nothing, of an open even if it
    /// failed, since the name had been made up before; or takes it away.
    private enum NameUse {
        CREATES_ALONE,
        TAKES_AWAY,
        NONE
    }

    private static NameUse nameUse(FileView file) {
        return switch (file) {
            case FileView.Open open -> open.isExclusive() ? NameUse.CREATES_ALONE : NameUse.NONE;
            case FileView failed when failed.failed() -> NameUse.NONE;
            case FileView.Mkdir _, FileView.Symlink _, FileView.Mknod _ -> NameUse.CREATES_ALONE;
            case FileView.Rename rename -> rename.isExchange() ? NameUse.NONE : NameUse.TAKES_AWAY;
            case FileView.Unlink _, FileView.Rmdir _ -> NameUse.TAKES_AWAY;
            case FileView.Close _,
                    FileView.Io _,
                    FileView.Link _,
                    FileView.Chmod _,
                    FileView.Chown _,
                    FileView.Utime _,
                    FileView.Chattr _,
                    FileView.Xattr _,
                    FileView.Truncate _,
                    FileView.Allocate _,
                    FileView.Mmap _ -> NameUse.NONE;
        };
    }

    /// Whether it is closed to others, or opened so that its writer can read it again: a program that copies or
    /// unpacks under given names opens files only for writing, and for everybody.
    private static boolean isKeptToItself(FileView file) {
        return file.isClosedToOthers() || file instanceof FileView.Open open && open.isForBoth();
    }

    private long columns(Row row, int kind, long columns) {
        long canon = kind;
        for (long left = columns; left != 0; left &= left - 1) {
            int field = Long.numberOfTrailingZeros(left);
            Column column = Column.of(field);
            boolean kept = column == Column.PATH_TO && namesFile;
            canon = hash.mix(canon, field, kept ? kept(row) : value(row, column));
        }
        return canon;
    }

    /// The target of a rename or link.
    private long kept(Row row) {
        return normalizer.kept(row.array(Column.PATH_TO), row.offset(Column.PATH_TO), row.length(Column.PATH_TO));
    }

    private long text(Row row, Column column) {
        return normalizer.text(row.array(column), row.offset(column), row.length(column));
    }

    private long value(Row row, Column column) {
        return switch (column.type()) {
            case INT, LONG -> row.number(column);
            case STRING, BYTES -> column == Column.PATH ? pathHash : text(row, column);
            case STRING_LIST -> {
                long total = 0;
                var cursor = new ListCursor(row, column);
                while (cursor.next()) {
                    total = hash.mix(total, normalizer.text(cursor.array(), cursor.offset(), cursor.length()));
                }
                yield total;
            }
        };
    }

    /// A result of 0 or more is a success: if it is a file descriptor, its number does not matter.
    private long result(Row row, long canon) {
        if (!row.has(Column.RET)) {
            return canon;
        }
        return hash.mix(canon, Column.RET.fieldId(), Math.min(row.number(Column.RET), 0));
    }

    /// Which of an event's ports say what was done. A local port does where somebody listens on it, a remote one
    /// where it was not chosen by the peer's kernel.
    private enum Ports {
        LISTENING,
        ACCEPTED,
        CALLED
    }

    private Ports portsOf(EventView event) {
        return switch (event) {
            case NetView.Accept _ -> Ports.ACCEPTED;
            case NetView.Flow flow -> portsOfFlow(flow.row());
            case NetView.Bind bind when bind.localPort() != null && isEphemeral(bind.localPort()) -> Ports.CALLED;
            case NetView.Bind _, NetView.Listen _ -> Ports.LISTENING;
            case NetView _,
                    ProcessView _,
                    FileView _,
                    PrivilegeView _,
                    RecorderView _,
                    VmView _,
                    RunView _,
                    EventView.Unknown _ -> Ports.CALLED;
        };
    }

    /// A flow within the guest was accepted if its own end is a port that somebody listens on, and the other
    /// one is of a kernel's choice.
    private Ports portsOfFlow(Row row) {
        if (!row.has(Column.LOCAL_PORT)
                || !row.has(Column.REMOTE_PORT)
                || !isWithinGuest(row)
                || !isEphemeral(row.number(Column.REMOTE_PORT))) {
            return Ports.CALLED;
        }
        long local = row.number(Column.LOCAL_PORT);
        boolean listens = !isEphemeral(local) || normalizer.isRenamedPort(normalizer.word(local));
        return listens && !normalizer.isRenamedPort(normalizer.word(row.number(Column.REMOTE_PORT)))
                ? Ports.ACCEPTED
                : Ports.CALLED;
    }

    private static boolean isWithinGuest(Row row) {
        if (!row.has(Column.REMOTE_IP)) {
            return false;
        }
        Text remote = row.text(Column.REMOTE_IP);
        return IpAddress.isLoopback(remote.toString())
                || row.has(Column.LOCAL_IP) && remote.equals(row.text(Column.LOCAL_IP));
    }

    private long ports(Row row, Ports ports, long canon) {
        long total = canon;
        if (row.has(Column.LOCAL_PORT)) {
            total = ports == Ports.CALLED
                    ? dropPort(row, Column.LOCAL_PORT, total)
                    : hash.mix(total, 1, port(row, Column.LOCAL_PORT));
        }
        if (row.has(Column.REMOTE_PORT)) {
            total = ports == Ports.ACCEPTED
                    ? dropPort(row, Column.REMOTE_PORT, total)
                    : hash.mix(total, 2, port(row, Column.REMOTE_PORT));
        }
        return total;
    }

    private long port(Row row, Column column) {
        long port = row.number(column);
        if (!isEphemeral(port)) {
            return port;
        }
        byte[] digits = Long.toString(port).getBytes(StandardCharsets.US_ASCII);
        return normalizer.text(digits, 0, digits.length);
    }

    private long dropPort(Row row, Column column, long canon) {
        portsLane += row.number(column) * (column.fieldId() + 1);
        return canon;
    }

    private static boolean isEphemeral(long port) {
        return port >= EPHEMERAL_PORT_MIN;
    }

    private long remoteEnd(Row row, int kind) {
        boolean says = row.has(Column.REMOTE_PORT) && portsOfFlow(row) != Ports.ACCEPTED;
        long remote = says ? row.number(Column.REMOTE_PORT) : 0;
        return hash.mix(kind, remote, row.has(Column.REMOTE_IP) ? value(row, Column.REMOTE_IP) : 0);
    }

    /// The counts of an event that folds several calls.
    private long volume(EventView event) {
        Row row = event.row();
        return switch (event) {
            case FileView.Io _ ->
                weighed(row, Column.BYTES_READ)
                        + weighed(row, Column.BYTES_WRITTEN)
                        + weighed(row, Column.READS)
                        + weighed(row, Column.WRITES);
            case NetView.Flow _ -> weighed(row, Column.BYTES_OUT) + weighed(row, Column.BYTES_IN);
            case ProcessView _,
                    FileView _,
                    NetView _,
                    PrivilegeView _,
                    RecorderView _,
                    VmView _,
                    RunView _,
                    EventView.Unknown _ -> 0;
        };
    }

    private long weighed(Row row, Column column) {
        return row.has(column) ? row.number(column) * (hash.mix(7, column.fieldId()) | 1) : 0;
    }

    /// The length of what the kernel shows in /proc and /sys varies with every process number and counter in
    /// it; also in those that an agent mounted for itself.
    private static boolean isOfTheKernel(Row row) {
        return EventReach.begins(row, "/proc/")
                || EventReach.begins(row, "/sys/")
                || EventReach.begins(row, "proc[")
                || EventReach.begins(row, "sysfs[");
    }

    private static boolean tellsProcesses(PrivilegeView.Use use) {
        return TELL_PROCESSES.contains(String.valueOf(use.what()));
    }

    private long lanes(Row row) {
        long numbers = normalizer.numbersLane();
        if (row.has(Column.PID)) {
            numbers += row.number(Column.PID) * 31 + (row.has(Column.TID) ? row.number(Column.TID) : 0);
        }
        return lane(numbers)
                | lane(normalizer.namesLane()) << LANE_BITS
                | lane(portsLane + normalizer.portsLane()) << 2 * LANE_BITS
                | lane(kernelLane) << 3 * LANE_BITS;
    }

    private long lane(long value) {
        return value == 0 ? 0 : hash.mix(value, 5) & 0xffff;
    }
}
