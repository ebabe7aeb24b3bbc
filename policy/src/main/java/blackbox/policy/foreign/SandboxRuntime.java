package blackbox.policy.foreign;

import blackbox.policy.foreign.ForeignList.Entry;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;

/// Settings of sandbox-runtime (github.com/anthropic-experimental/sandbox-runtime, `sandbox-config.ts`). An
/// entry is a name, `*.NAME` for names with any number of labels before it, or an IPv6 address in brackets,
/// with `:PORT` or for any port; `*` in what is denied is every host. What is denied wins.
final class SandboxRuntime {

    private static final String NETWORK = "network";
    private static final String ALLOWED = "allowedDomains";
    private static final String DENIED = "deniedDomains";

    /// What else decides there about the network.
    private static final List<String> OTHERS = List.of(
            "allowUnixSockets", "allowAllUnixSockets", "allowLocalBinding", "mitmProxy", "parentProxy", "tlsTerminate");

    private SandboxRuntime() {}

    /// @throws IllegalArgumentException with a sentence that says what cannot be read or said
    static ForeignList read(JsonNode settings) {
        JsonNode network = settings.path(NETWORK);
        if (!network.isObject() || !network.has(ALLOWED) && !network.has(DENIED)) {
            throw new IllegalArgumentException(
                    "it has no network.allowedDomains and no network.deniedDomains, as settings of "
                            + "sandbox-runtime have");
        }
        List<Entry> allowed =
                ListReader.entries(network.path(ALLOWED), "network.allowedDomains", SandboxRuntime::entry);
        List<Entry> denied = ListReader.entries(network.path(DENIED), "network.deniedDomains", SandboxRuntime::entry);
        var notes = new ArrayList<String>();
        if (allowed.stream().anyMatch(entry -> entry.ports().equals(ListReader.ALL_PORTS))) {
            notes.add("Entries without a port allow every port there, and so they do here; name the ports that "
                    + "are meant.");
        }
        OTHERS.stream()
                .filter(network::has)
                .forEach(key -> notes.add("network." + key + " has no counterpart in a policy and is left out."));
        return new ForeignList(Origin.SANDBOX_RUNTIME, allowed, denied, notes);
    }

    private static Entry entry(String said) {
        int colon = said.lastIndexOf(':');
        boolean hasPort = colon > said.lastIndexOf(']');
        String host = hasPort ? said.substring(0, colon) : said;
        String ports = hasPort ? ListReader.port(said.substring(colon + 1)) : ListReader.ALL_PORTS;
        if (host.indexOf(':') >= 0 && !host.startsWith("[")) {
            throw new IllegalArgumentException("an IPv6 address is in brackets");
        }
        if (host.equals("*")) {
            return ListReader.entry(said, "**", ports);
        }
        return ListReader.entry(said, host.startsWith("*.") ? "*" + host : host, ports);
    }
}
