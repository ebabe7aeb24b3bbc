package blackbox.policy.foreign;

import blackbox.policy.foreign.ForeignList.Entry;
import blackbox.policy.host.Address;
import blackbox.policy.host.AddressRange;
import blackbox.policy.host.HostPattern;
import blackbox.policy.host.Ports;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/// What both formats share: lists of hosts.
final class ListReader {

    /// What an entry without a port stands for.
    static final String ALL_PORTS = "\"1-65535\"";

    private static final int SHOWN_MAX = 100;

    private ListReader() {}

    /// The entries of a list of texts; none if it is missing.
    ///
    /// @throws IllegalArgumentException with a sentence that names the list and the entry
    static List<Entry> entries(JsonNode list, String name, Function<String, Entry> reader) {
        if (list.isMissingNode() || list.isNull()) {
            return List.of();
        }
        if (!list.isArray()) {
            throw new IllegalArgumentException(name + " is no list");
        }
        var entries = new ArrayList<Entry>();
        for (JsonNode item : list) {
            if (!item.isTextual()) {
                throw new IllegalArgumentException("an entry of " + name + " is no text");
            }
            String said = item.textValue();
            try {
                entries.add(reader.apply(said));
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(
                        "the entry '" + shown(said) + "' of " + name + " cannot be imported: " + e.getMessage(), e);
            }
        }
        return entries;
    }

    private static String shown(String said) {
        String cut = said.length() > SHOWN_MAX ? said.substring(0, SHOWN_MAX) + "…" : said;
        return cut.replaceAll("\\p{Cntrl}", "?");
    }

    /// An entry for a host pattern, an address or a range.
    ///
    /// @throws IllegalArgumentException with a clause when it is none
    static Entry entry(String said, String host, String ports) {
        boolean address = Address.parse(host) != null || host.contains("/");
        return address
                ? new Entry(said, "address", AddressRange.parse(host).toString(), ports)
                : new Entry(said, "host", HostPattern.parse(host).toString(), ports);
    }

    /// One port, as a policy writes it.
    ///
    /// @throws IllegalArgumentException with a clause when it is none
    static String port(String said) {
        if (!said.matches("[0-9]{1,5}")) {
            throw new IllegalArgumentException("it has no port after its last colon");
        }
        return Ports.Range.parse(said).toString();
    }
}
