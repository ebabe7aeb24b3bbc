package blackbox.vm.apt;

import blackbox.schemas.Hash;
import blackbox.vm.Command;
import blackbox.vm.FileSeal;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;

/// A package as a file.
///
/// @param name of the package
/// @param version Debian's
/// @param architecture `amd64` or `all`
/// @param sha256 of the `.deb`
/// @param bytes its length
public record DebFile(String name, String version, String architecture, String sha256, long bytes) {
    public DebFile {
        Hash.ofHex(sha256);
        if (bytes <= 0 || name.isEmpty() || name.contains("/") || version.isEmpty() || version.contains("/")) {
            throw new IllegalArgumentException("the package '" + name + "' is malformed");
        }
    }

    /// Reads what a fetched package says of itself, and hashes it.
    public static DebFile of(Path file) throws VmException {
        var fields = new HashMap<String, String>();
        Command.of("dpkg-deb", "-f", file.toString(), "Package", "Version", "Architecture")
                .run()
                .lines()
                .map(line -> line.split(": ", 2))
                .forEach(words -> fields.put(words[0], words[1]));
        try {
            return new DebFile(
                    fields.getOrDefault("Package", ""),
                    fields.getOrDefault("Version", ""),
                    fields.getOrDefault("Architecture", ""),
                    FileSeal.hash(file).toString(),
                    Files.size(file));
        } catch (IOException e) {
            throw new VmException(Code.IO, "could not hash " + file, e);
        }
    }

    /// Which package it is.
    public PackageVersion identity() {
        return new PackageVersion(name, version, architecture);
    }
}
