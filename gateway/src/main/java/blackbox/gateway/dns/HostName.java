package blackbox.gateway.dns;

import java.util.regex.Pattern;

/// What may be the name of a host, in lower case (RFC 1123 section 2.1, with underscores, which services have).
final class HostName {
    private static final int LENGTH_MAX = 253;
    private static final String LABEL = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?";
    private static final Pattern NAME = Pattern.compile(LABEL + "(?:\\." + LABEL + ")*");
    /// An address, or what some parsers take for a part of one (`127.1`, `0x7f.1`): nobody's name ends so.
    private static final Pattern NUMBER = Pattern.compile("(?:.*\\.)?(?:[0-9]+|0x[0-9a-f]*)");

    private HostName() {}

    static boolean isOne(String name) {
        return name.length() <= LENGTH_MAX
                && NAME.matcher(name).matches()
                && !NUMBER.matcher(name).matches();
    }
}
