package blackbox.query.brief;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// Traffic with one remote end.
///
/// @param remote address and port, as `10.0.2.2:443`
/// @param host its name, or null
/// @param by the programs that were seen to talk to it
/// @param flows connections, or exchanges of datagrams
/// @param bytesOut payload octets that left the guest
/// @param failed whether nothing was ever seen of it but attempts that failed
public record Contact(
        String protocol,
        String remote,
        @Nullable String host,
        List<String> by,
        long flows,
        long bytesOut,
        long bytesIn,
        boolean failed) {

    public Contact {
        by = List.copyOf(by);
    }
}
