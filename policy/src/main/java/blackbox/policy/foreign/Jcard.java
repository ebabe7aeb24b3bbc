package blackbox.policy.foreign;

import blackbox.policy.foreign.ForeignList.Entry;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;

/// A `jcard.toml` of masterblaster (github.com/papercomputeco/masterblaster, `pkg/config`): the list
/// `egress_allow` of the table `network` has domains and CIDR ranges. Its pages define neither wildcards nor
/// ports, so an entry is one name here, and any port; an empty list there means no limits.
final class Jcard {

    private static final String LIST = "network.egress_allow";

    private Jcard() {}

    /// @throws IllegalArgumentException with a sentence that says what cannot be read or said
    static ForeignList read(JsonNode card) {
        JsonNode network = card.path("network");
        var notes = new ArrayList<String>();
        if (network.path("mode").asText("").equals("none")) {
            notes.add("network.mode is none there: nothing is allowed.");
            return new ForeignList(Origin.JCARD, List.of(), List.of(), notes);
        }
        List<Entry> allowed = ListReader.entries(network.path("egress_allow"), LIST, Jcard::entry);
        if (allowed.isEmpty()) {
            throw new IllegalArgumentException("it has no " + LIST
                    + ", or an empty one, which there means no limits; a policy without rules allows nothing, "
                    + "so write one, or let one observe: mode: observe");
        }
        notes.add("An entry allows every port, as there; name the ports that are meant.");
        if (allowed.stream().anyMatch(entry -> entry.key().equals("address"))) {
            notes.add("An address allows connections to it, and no names that lead there.");
        }
        return new ForeignList(Origin.JCARD, allowed, List.of(), notes);
    }

    private static Entry entry(String said) {
        if (said.contains("*")) {
            throw new IllegalArgumentException("what a wildcard means there is not defined; name the hosts");
        }
        return ListReader.entry(said, said, ListReader.ALL_PORTS);
    }
}
