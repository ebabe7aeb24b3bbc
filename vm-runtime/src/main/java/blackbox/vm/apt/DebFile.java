package blackbox.vm.apt;

import blackbox.schemas.Hash;
import java.util.regex.Pattern;

/// A package's `.deb` file.
///
/// @param name of the package
/// @param version in Debian's form
/// @param architecture `amd64` or `all`
/// @param sha256 of the `.deb`
/// @param bytes its length
public record DebFile(String name, String version, String architecture, String sha256, long bytes) {
    private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9+.-]{0,200}");
    private static final Pattern VERSION = Pattern.compile("[A-Za-z0-9][A-Za-z0-9.+~:-]{0,200}");
    private static final Pattern ARCHITECTURE = Pattern.compile("[a-z0-9][a-z0-9-]{0,40}");

    public DebFile {
        check(name, version, architecture, sha256, bytes);
    }

    /// Refuses malformed values.
    ///
    /// @throws IllegalArgumentException naming it
    public static void check(String name, String version, String architecture, String sha256, long bytes) {
        Hash.ofHex(sha256);
        if (bytes <= 0
                || !NAME.matcher(name).matches()
                || !VERSION.matcher(version).matches()
                || !ARCHITECTURE.matcher(architecture).matches()) {
            throw new IllegalArgumentException("the package '" + name + "' is malformed");
        }
    }

    /// Which package it is.
    public PackageVersion identity() {
        return new PackageVersion(name, version, architecture);
    }
}
