package blackbox.replay.divergence.strand;

import blackbox.replay.divergence.text.GenerationalCache;
import blackbox.replay.divergence.text.KeyedHash;
import blackbox.replay.divergence.text.KnownNames;
import blackbox.replay.divergence.text.MadeUpNames;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.FileView;
import blackbox.schemas.view.NetView;
import blackbox.schemas.view.PrivilegeView;
import blackbox.schemas.view.ProcessId;
import blackbox.schemas.view.ProcessView;
import blackbox.schemas.view.RecorderView;
import blackbox.schemas.view.RunView;
import blackbox.schemas.view.VmView;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// One side's processes, threads and flows: assigns every event its strand, and every strand the key by which
/// the other side knows it.
///
/// A process is identified by its parent, its program with arguments, and its place among siblings that run the
/// same; one that has to be known before it runs a program of its own, by its parent and when that forked it,
/// because which of several subshells goes on first is chance; a thread by its process and what it did first; a
/// flow by its owner, its remote end and its counts. A strand's tokens are held until that is known. Owned by
/// one thread.
public final class Lineage {

    private static final int HELD_MAX = 256;
    private static final int THREAD_HELD_MAX = 4;
    private static final int EXITED_KEPT = 16_384;
    private static final int COUNTED_MAX = 1 << 18;
    private static final int OPEN_MAX = 32_768;
    private static final int RECENT = 64;
    private static final long ROOT = 11;
    private static final long BIRTH = 12;

    /// The process that starts the kernel's own threads.
    private static final long KTHREADD = 2;

    private final KeyedHash hash;
    private final EventIdentity identity;
    private final TokenSink sink;
    private final Map<Long, GuestProcess> processes = new LinkedHashMap<>();

    /// Those of `processes` that were met last, each at the place that its id gives: most events are of one
    /// of them.
    private final @Nullable GuestProcess[] recent = new GuestProcess[RECENT];

    private final Deque<Long> exited = new ArrayDeque<>();
    private final GenerationalCache counted = new GenerationalCache(COUNTED_MAX);
    private final Map<Long, Strand> ownerless = new LinkedHashMap<>();
    private final Map<Long, Strand> names = new LinkedHashMap<>();
    private final Strand host;
    private long notCompared;
    private long sequence = 1;

    public Lineage(KeyedHash hash, KnownNames known, TokenSink sink) {
        this.hash = hash;
        this.identity = new EventIdentity(hash, known);
        this.sink = sink;
        this.host = new Strand(Strand.Sort.HOST, hash.mix(ROOT, 1), 0, 0);
        host.name(hash.mix(ROOT, 2), 0, 0);
    }

    /// Events that have no counterpart because of their kind: heartbeats and what the recorder reports about
    /// itself and the VM.
    public long notCompared() {
        return notCompared;
    }

    /// The names that programs made up, in the events read so far.
    public MadeUpNames names() {
        return identity.names();
    }

    /// A hash of all compared events in their order, whatever strand they are in.
    public long sequence() {
        return sequence;
    }

    /// Whether such an event is compared.
    public static boolean isCompared(EventView event) {
        return switch (event) {
            case NetView.Flow flow -> isTcpOrUdp(flow.row());
            // Compared as its `net.connect`, when the call has returned.
            case NetView.Syn _ -> false;
            // A re-execution has no gateway; what came of a decision is compared.
            case NetView.Decision _, NetView.Exchange _, NetView.SecretUse _, NetView.AgentCall _, RunView.Policy _ ->
                false;
            case ProcessView _, FileView _, NetView _, PrivilegeView _, RunView.Close _ -> true;
            case RecorderView _,
                    VmView _,
                    RunView.Open _,
                    RunView.Access _,
                    RunView.AgentStart _,
                    RunView.AgentExit _,
                    EventView.Unknown _ -> false;
        };
    }

    /// What is neither TCP nor UDP is link-level chatter that depends on timing.
    private static boolean isTcpOrUdp(Row row) {
        if (!row.has(Column.PROTOCOL) || row.length(Column.PROTOCOL) != 3) {
            return false;
        }
        byte first = row.array(Column.PROTOCOL)[row.offset(Column.PROTOCOL)];
        return first == 't' || first == 'u'; // the third of three letters is `arp`
    }

    public void add(EventView event, long index) {
        if (!isCompared(event)) {
            notCompared++;
            return;
        }
        Row row = event.row();
        boolean guest = event.isByGuest();
        GuestProcess process = guest && row.has(Column.PID) ? process(event) : null;
        if (event instanceof NetView.Flow flow) {
            flow(flow, index, guest, process);
        } else if (event instanceof NetView.Dns query) {
            Strand name = name(row, process);
            put(name, identity.token(query, index, name.nextOrdinal(), process));
        } else if (process == null) {
            put(host, identity.token(event, index, host.nextOrdinal(), null));
        } else {
            guest(event, index, process);
        }
    }

    private void guest(EventView event, long index, GuestProcess process) {
        Row row = event.row();
        boolean exit = event instanceof ProcessView.Exit;
        Strand strand = row.has(Column.TID) && !exit ? thread(process, (int) row.number(Column.TID)) : process.strand;
        put(strand, identity.token(event, index, strand.nextOrdinal(), process));
        if (strand.isNamed()) {
            if (exit) {
                end(row, process);
            }
            return;
        }
        boolean execs = event instanceof ProcessView.Exec && row.has(Column.RET) && !event.failed();
        if (execs || event instanceof ProcessView.Running) {
            strand.ofKernel = false; // a helper that the kernel started
            name(strand, identity.program(row, process));
        } else if (exit) {
            name(strand, withoutProgram(process));
            end(row, process);
        } else if (strand.sort == Strand.Sort.THREAD) {
            if (strand.held().size() >= THREAD_HELD_MAX) {
                nameThread(strand);
            }
        } else if (strand.held().size() >= HELD_MAX) {
            name(strand, withoutProgram(process));
        }
    }

    private GuestProcess process(EventView event) {
        Row row = event.row();
        long id = id(row.number(Column.PID), row.has(Column.START_NS) ? row.number(Column.START_NS) : 0);
        int place = (int) (id ^ id >>> 22) & RECENT - 1;
        GuestProcess met = recent[place];
        if (met != null && met.id == id) {
            return met;
        }
        GuestProcess known = processes.get(id);
        if (known != null) {
            recent[place] = known;
            return known;
        }
        long parentKey = hash.mix(ROOT, 3);
        long birth = 0;
        ProcessId forkedBy = event instanceof ProcessView.Fork fork ? fork.parent() : null;
        if (forkedBy != null) {
            GuestProcess parent = processes.get(id(forkedBy.pid(), forkedBy.startNs()));
            if (parent != null) {
                parentKey = named(parent).process;
                birth = parent.nextBirth();
            }
        }
        long group = hash.mix(parentKey, Strand.Sort.PROCESS.code);
        var process = new GuestProcess(
                id,
                new Strand(Strand.Sort.PROCESS, group, 0, parentKey),
                identity.word(row.number(Column.PID)),
                row.has(Column.PPID) ? identity.word(row.number(Column.PPID)) : 0,
                birth,
                event.atNs());
        process.strand.ofKernel = row.has(Column.PPID)
                ? row.number(Column.PPID) == KTHREADD
                // Every other process that ran before is told of when the tracer begins, and later ones when they are
                // forked.
                : event instanceof ProcessView.Exit && !row.has(Column.COMM);
        processes.put(id, process);
        recent[place] = process;
        return process;
    }

    /// The process's strand, named now if it was not: another strand's name depends on it.
    private Strand named(GuestProcess process) {
        if (!process.strand.isNamed()) {
            name(process.strand, withoutProgram(process));
        }
        return process.strand;
    }

    /// What identifies a process that has run no program of its own.
    private long withoutProgram(GuestProcess process) {
        return process.birth == 0 ? 0 : hash.mix(BIRTH, process.birth);
    }

    private static long id(long pid, long startNs) {
        return startNs << 22 ^ startNs >>> 42 ^ pid;
    }

    private Strand thread(GuestProcess process, int tid) {
        Strand known = process.threads.get(tid);
        if (known != null) {
            return known;
        }
        long owner = named(process).process;
        Strand strand =
                new Strand(Strand.Sort.THREAD, hash.mix(owner, Strand.Sort.THREAD.code), owner, process.strand.parent);
        process.threads.put(tid, strand);
        return strand;
    }

    private void nameThread(Strand strand) {
        long first = strand.held().size();
        for (Token token : strand.held()) {
            first = hash.mix(first, token.canon());
        }
        name(strand, first);
    }

    private void flow(NetView.Flow event, long index, boolean guest, @Nullable GuestProcess process) {
        Row row = event.row();
        long owner = process == null ? 0 : named(process).process;
        long remote = identity.flow(row);
        Strand.Sort sort = guest ? Strand.Sort.GUEST_FLOW : Strand.Sort.HOST_FLOW;
        long localPort = row.has(Column.LOCAL_PORT) ? row.number(Column.LOCAL_PORT) : 0;
        long remotePort = row.has(Column.REMOTE_PORT) ? row.number(Column.REMOTE_PORT) : 0;
        long ports = hash.mix(remote, localPort << 16 | remotePort, sort.code);
        Map<Long, Strand> open = process == null ? ownerless : process.flows;
        Strand strand = open.get(ports);
        if (strand == null) {
            long parent = process == null ? 0 : process.strand.parent;
            strand = new Strand(sort, hash.mix(owner, sort.code, remote), owner, parent, remote);
            open.put(ports, strand);
        }
        put(strand, identity.token(event, index, strand.nextOrdinal(), process));
        if (isOver(row, guest) || open.size() > OPEN_MAX) {
            open.remove(ports);
            nameFlow(strand);
            sink.ended(strand);
        }
    }

    /// The host reports a flow when it begins and when it ends, the guest when it ends and sometimes before.
    private static boolean isOver(Row row, boolean guest) {
        String what = row.has(Column.WHAT) ? row.text(Column.WHAT).toString() : "";
        return guest ? what.equals("closed") : !what.equals("open");
    }

    private void nameFlow(Strand strand) {
        long volume = 0;
        for (Token token : strand.held()) {
            volume += token.volume();
        }
        name(strand, volume);
    }

    private Strand name(Row row, @Nullable GuestProcess process) {
        long owner = process == null ? 0 : named(process).process;
        long question = identity.question(row);
        long group = hash.mix(owner, Strand.Sort.DNS.code, question);
        Strand known = names.get(group);
        if (known != null) {
            return known;
        }
        if (names.size() >= OPEN_MAX) {
            names.clear();
        }
        long parent = process == null ? 0 : process.strand.parent;
        Strand strand = new Strand(Strand.Sort.DNS, group, owner, parent, question);
        name(strand, 0);
        names.put(group, strand);
        return strand;
    }

    private void name(Strand strand, long digest) {
        long same = hash.mix(strand.group, digest);
        long number = counted.count(same);
        long key = hash.mix(same, number);
        List<Token> held = strand.name(key, digest, number);
        if (strand.sort == Strand.Sort.PROCESS) {
            strand.process = strand.key();
        }
        for (Token token : held) {
            give(strand, token);
        }
    }

    private void put(Strand strand, Token token) {
        sequence = hash.mix(sequence, token.canon());
        if (strand.isNamed()) {
            give(strand, token);
        } else {
            strand.hold(token);
        }
    }

    private void give(Strand strand, Token token) {
        if (strand.ofKernel) {
            notCompared++;
        } else {
            sink.accept(strand, token);
        }
    }

    private void end(Row row, GuestProcess process) {
        close(process);
        exited.add(id(row.number(Column.PID), row.has(Column.START_NS) ? row.number(Column.START_NS) : 0));
        if (exited.size() > EXITED_KEPT) {
            GuestProcess forgotten = processes.remove(exited.remove());
            if (forgotten != null) {
                Arrays.fill(recent, null);
                close(forgotten);
            }
        }
    }

    /// Names what is still held and ends the strands. A flow may be reported after its process's end.
    private void close(GuestProcess process) {
        for (Strand thread : process.threads.values()) {
            if (!thread.isNamed()) {
                nameThread(thread);
            }
            sink.ended(thread);
        }
        process.threads.clear();
        sink.ended(named(process));
    }

    /// Notes that the side has no more events.
    public void finish() {
        processes.values().forEach(this::named);
        var flows = new ArrayList<Strand>(ownerless.values());
        for (GuestProcess process : processes.values()) {
            flows.addAll(process.flows.values());
            close(process);
        }
        flows.sort(Comparator.comparingLong(strand -> strand.held().getFirst().index()));
        for (Strand flow : flows) {
            nameFlow(flow);
            sink.ended(flow);
        }
        names.values().forEach(sink::ended);
        sink.ended(host);
    }
}
