package blackbox.node.serve;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Where the API listens, and what it is called there.
///
/// @param host the name or IP address of an interface
/// @param port [ApiServer#ANY_PORT] takes a free one
/// @param names under which clients may ask for it, besides `localhost` and IP addresses
/// @param patience how long a client may take to send a request, and a connection may be without one
public record ApiAddress(String host, int port, List<String> names, Duration patience) {

    /// Ample for the 64 KB that a request may have.
    public static final Duration PATIENCE = Duration.ofSeconds(20);

    private static final Pattern IP_ADDRESS = Pattern.compile("[0-9]{1,3}(\\.[0-9]{1,3}){3}|\\[[0-9a-fA-F:.%]+]");
    private static final Pattern PORT = Pattern.compile(":[0-9]{1,5}$");

    public ApiAddress {
        names = names.stream().map(name -> name.toLowerCase(Locale.ROOT)).toList();
    }

    /// Whether a request's `Host` may be answered. A page in somebody's browser can have its own name resolved to
    /// this address (DNS rebinding), and would then be of the same origin; it cannot have an IP address or
    /// `localhost` as its name.
    boolean answersTo(@Nullable String header) {
        if (header == null) {
            return false;
        }
        String name = PORT.matcher(header).replaceFirst("").toLowerCase(Locale.ROOT);
        return name.equals("localhost")
                || name.equalsIgnoreCase(host)
                || names.contains(name)
                || IP_ADDRESS.matcher(name).matches();
    }
}
