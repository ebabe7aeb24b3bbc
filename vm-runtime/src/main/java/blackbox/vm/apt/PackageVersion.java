package blackbox.vm.apt;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/// A package by name, version and architecture, regardless of its content.
///
/// @param name of the package
/// @param version in Debian's form
/// @param architecture `amd64` or `all`
public record PackageVersion(String name, String version, String architecture) {
    private static final String SUFFIX = ".deb";

    /// The package of a `.deb`, from the name that apt gives such a file: `NAME_VERSION_ARCHITECTURE.deb`, with
    /// some characters written as `%` and two digits. Null if the name has another form.
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

    /// The argument that asks apt for exactly this version.
    public String specification() {
        return name + (architecture.equals("all") ? "" : ":" + architecture) + "=" + version;
    }

    /// The package in words for people.
    @Override
    public String toString() {
        return name + " " + version;
    }
}
