package blackbox.vm.apt;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/// Which package it is, whatever its octets are.
///
/// @param name of the package
/// @param version Debian's
/// @param architecture `amd64` or `all`
public record PackageVersion(String name, String version, String architecture) {
    private static final String SUFFIX = ".deb";

    /// What a `.deb` is of, by the name that apt gives such a file: `NAME_VERSION_ARCHITECTURE.deb`, with some
    /// characters written as `%` and two digits. Null when the name is of another form.
    static @Nullable PackageVersion ofFileName(String fileName) {
        if (!fileName.endsWith(SUFFIX)) {
            return null;
        }
        String[] words =
                fileName.substring(0, fileName.length() - SUFFIX.length()).split("_", -1);
        return words.length == 3 ? new PackageVersion(decoded(words[0]), decoded(words[1]), decoded(words[2])) : null;
    }

    private static String decoded(String word) {
        return URLDecoder.decode(word.replace("+", "%2b"), StandardCharsets.UTF_8);
    }

    /// How apt is asked for exactly this version.
    public String specification() {
        return name + (architecture.equals("all") ? "" : ":" + architecture) + "=" + version;
    }

    /// For a person.
    @Override
    public String toString() {
        return name + " " + version;
    }
}
