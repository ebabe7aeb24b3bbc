package blackbox.query.brief;

import blackbox.query.answer.Touched;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.Counts;
import blackbox.schemas.view.NetView;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/// Gathers which programs talked to which remote end.
final class Contacts {

    private static final int REMOTES_MAX = 100_000;
    private static final int PROGRAMS_MAX = 20;

    private record Remote(String protocol, String address) {}

    private static final class Sum {
        private long flows;
        private long out;
        private long in;
        private boolean reached;

        @Nullable
        private String host;
    }

    private final Map<Remote, Set<String>> programs = new LinkedHashMap<>();

    /// Takes what the guest saw of its network.
    void see(NetView event, @Nullable String program) {
        Text protocol = event.protocol();
        Text ip = event.remoteIp();
        if (program == null || protocol == null || ip == null || !event.isByGuest()) {
            return;
        }
        Long port = event.remotePort();
        var remote = new Remote(protocol.toString(), address(ip.toString(), port == null ? null : port.intValue()));
        if (programs.size() < REMOTES_MAX || programs.containsKey(remote)) {
            Set<String> named = programs.computeIfAbsent(remote, _ -> new TreeSet<>());
            if (named.size() < PROGRAMS_MAX) {
                named.add(program);
            }
        }
    }

    private static String address(String ip, @Nullable Integer port) {
        String shown = ip.indexOf(':') < 0 ? ip : "[" + ip + "]";
        return port == null ? shown : shown + ":" + port;
    }

    /// The remote ends of `flows`, the one with most octets first.
    List<Contact> contacts(List<Touched.Flow> flows) {
        var sums = new LinkedHashMap<Remote, Sum>();
        for (Touched.Flow flow : flows) {
            var remote = new Remote(flow.protocol(), address(flow.remoteIp(), flow.remotePort()));
            Sum sum = sums.computeIfAbsent(remote, _ -> new Sum());
            sum.flows++;
            sum.out = Counts.sum(sum.out, flow.bytesOut());
            sum.in = Counts.sum(sum.in, flow.bytesIn());
            sum.reached |= flow.failedWith() == null;
            sum.host = flow.host() == null ? sum.host : flow.host();
        }
        var contacts = new ArrayList<Contact>();
        sums.forEach((remote, sum) -> contacts.add(new Contact(
                remote.protocol,
                remote.address,
                sum.host,
                List.copyOf(programs.getOrDefault(remote, Set.of())),
                sum.flows,
                sum.out,
                sum.in,
                !sum.reached)));
        contacts.sort(Comparator.comparingLong((Contact each) -> -Counts.sum(each.bytesOut(), each.bytesIn())));
        return contacts;
    }
}
