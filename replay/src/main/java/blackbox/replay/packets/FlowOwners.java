package blackbox.replay.packets;

import blackbox.evidence.text.Printable;
import blackbox.query.answer.Programs;
import blackbox.schemas.net.IpAddress;
import blackbox.schemas.net.Octets;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.NetView;
import blackbox.schemas.view.ProcessView;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Which process made which connection, and what addresses are called, from a run's events. A connection of TCP
/// is known by its ends and the number of its first segment, which the guest's kernel told before it sent it;
/// datagrams are by their ends. Owned by one thread.
final class FlowOwners {

    private static final int KEPT_MAX = 250_000;
    private static final int OWNERS_MAX = 65_536;
    private static final int EXE_CHARS_MAX = 200;
    private static final int NAMES_MAX = 65_536;

    private final Programs programs = new Programs();
    private final Map<Segment, Owner> segments = new HashMap<>();
    private final Map<Ends, Owner> datagrams = new HashMap<>();

    /// One text for all that a process does: a guest chooses how long it is.
    private final Map<String, String> processes = new HashMap<>();

    private final Map<String, String> names = new LinkedHashMap<>();
    private final Set<String> ambiguous = new HashSet<>();
    private long kept;
    private long unkept;

    /// The ends of a connection; the guest's address is left out, since a socket that is not bound does not
    /// tell it.
    record Ends(String protocol, int localPort, String remoteIp, int remotePort) {}

    private record Segment(Ends ends, int number) {}

    /// @param index of the event that says so
    /// @param others whether other processes used the same ends, too
    private record Owner(String process, long index, boolean others) {
        String text() {
            return (others ? "one of several processes, first " : "") + process + "; event " + index;
        }
    }

    void see(EventView event, long index) {
        if (event instanceof ProcessView process) {
            programs.see(process);
        } else if (event instanceof NetView net) {
            net(net, index);
        }
    }

    private void net(NetView event, long index) {
        switch (event) {
            case NetView.Syn syn -> {
                programs.see(syn);
                Ends ends = ends(syn);
                Row row = syn.row();
                if (ends != null && row.has(Column.FLAGS) && room()) {
                    segments.put(new Segment(ends, (int) row.number(Column.FLAGS)), owner(syn, index));
                }
            }
            case NetView.Send send -> { // told for connected sockets, too; that one was connected sends nothing
                Ends ends = ends(send);
                if (ends != null) {
                    datagram(ends, send, index);
                }
            }
            case NetView.Dns dns
            when dns.isByHost() && dns.name() != null -> {
                for (Text answer : dns.answers()) {
                    named(answer.toString(), Printable.of(dns.name().toString()));
                }
            }
            default -> {}
        }
    }

    private void datagram(Ends ends, NetView.Send send, long index) {
        Owner known = datagrams.get(ends);
        Owner owner = owner(send, index);
        if (known == null) {
            if (room()) {
                datagrams.put(ends, owner);
            }
        } else if (!known.process().equals(owner.process())) {
            datagrams.put(ends, new Owner(known.process(), known.index(), true));
        }
    }

    /// An address that several names were answered with has none.
    private void named(String address, String name) {
        if (IpAddress.canonical(address) == null || ambiguous.contains(address)) {
            return;
        }
        String known = names.get(address);
        if (known == null && names.size() + ambiguous.size() < NAMES_MAX) {
            names.put(address, name);
        } else if (known != null && !known.equals(name)) {
            names.remove(address);
            ambiguous.add(address);
        }
    }

    private boolean room() {
        if (kept < KEPT_MAX) {
            kept++;
            return true;
        }
        unkept++;
        return false;
    }

    private static @Nullable Ends ends(NetView event) {
        Text protocol = event.protocol();
        Long localPort = event.localPort();
        Text remoteIp = event.remoteIp();
        Long remotePort = event.remotePort();
        return protocol == null || localPort == null || remoteIp == null || remotePort == null
                ? null
                : new Ends(protocol.toString(), localPort.intValue(), remoteIp.toString(), remotePort.intValue());
    }

    private Owner owner(NetView event, long index) {
        String who = programs.who(event);
        Text exe = programs.exe(event);
        String text = Printable.of(
                (who == null ? "a process that is not known" : who) + (exe == null ? "" : ", " + exe), EXE_CHARS_MAX);
        String shared = processes.get(text);
        if (shared == null && processes.size() < OWNERS_MAX) {
            processes.put(text, text);
        }
        return new Owner(shared == null ? text : shared, index, false);
    }

    /// Who opened the connection whose first segment has this number; null if no event says so.
    @Nullable
    String ofSegment(Ends ends, int number) {
        Owner owner = segments.get(new Segment(ends, number));
        return owner == null ? null : owner.text();
    }

    /// Who sent datagrams between these ends; null if no event says so.
    @Nullable
    String ofDatagram(Ends ends) {
        Owner owner = datagrams.get(ends);
        return owner == null ? null : owner.text();
    }

    /// The names of addresses, by their octets.
    List<Map.Entry<byte[], String>> names() {
        var all = new ArrayList<Map.Entry<byte[], String>>();
        names.forEach((ip, name) -> all.add(Map.entry(Octets.ofAddress(ip), name)));
        return all;
    }

    /// What may be missing, in sentences.
    List<String> limits() {
        return unkept == 0
                ? List.of()
                : List.of("only the first " + KEPT_MAX + " connections have the name of their process; " + unkept
                        + " have none");
    }
}
