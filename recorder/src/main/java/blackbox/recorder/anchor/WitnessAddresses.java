package blackbox.recorder.anchor;

import java.net.URI;
import java.util.LinkedHashMap;
import java.util.Map;

/// The addresses of a trust policy's witnesses (C2SP tlog-policy, `witness <name> <vkey> [<url>]`), which
/// judging a checkpoint does not need.
public final class WitnessAddresses {

    private WitnessAddresses() {}

    /// The addresses in a policy's text, by the witness's name. The text must have been read as a policy
    /// already.
    ///
    /// @throws IllegalArgumentException when one is not an address
    public static Map<String, URI> parse(String policy) {
        var addresses = new LinkedHashMap<String, URI>();
        for (String line : policy.split("\n", -1)) {
            String[] items = line.strip().split("[ \t]+", -1);
            if (items.length == 4 && items[0].equals("witness")) {
                addresses.put(items[1], URI.create(items[3]));
            }
        }
        return addresses;
    }
}
