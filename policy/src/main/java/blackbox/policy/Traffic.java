package blackbox.policy;

import blackbox.policy.host.AddressRange;
import blackbox.policy.host.HostPattern;
import blackbox.policy.host.Ports;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Which traffic a rule is about: all that is named here must fit.
///
/// @param host null if it is about addresses alone
/// @param addresses sorted; the address that is dialled must be in one of them; empty if any public one will do
/// @param methods sorted; empty for any
/// @param paths null for any
/// @param mcp null if it is not about MCP; otherwise host, ports, methods and paths follow from its URL
public record Traffic(
        @Nullable HostPattern host,
        List<AddressRange> addresses,
        Ports ports,
        List<String> methods,
        @Nullable PathRules paths,
        @Nullable McpTools mcp) {

    /// @throws IllegalArgumentException when it names neither a host nor an address
    public Traffic {
        addresses = addresses.stream().distinct().sorted().toList();
        methods = methods.stream().distinct().sorted().toList();
        if (host == null && addresses.isEmpty()) {
            throw new IllegalArgumentException("a rule needs a host or an address");
        }
    }

    /// Whether only HTTP says whether it fits.
    public boolean needsRequest() {
        return !methods.isEmpty() || paths != null || mcp != null;
    }

    /// Whom it is about, for people.
    public String destination() {
        if (mcp != null) {
            return mcp.url();
        }
        return host != null
                ? host.toString()
                : addresses.stream().map(AddressRange::toString).collect(Collectors.joining(", "));
    }
}
