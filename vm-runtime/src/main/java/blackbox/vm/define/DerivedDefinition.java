package blackbox.vm.define;

import blackbox.vm.npm.NpmLock;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// A definition that is based on another one, as it was read, with its npm lock.
///
/// @param label its file's name
/// @param text its file's content
/// @param name of the image
/// @param from name of the definition that it is based on
/// @param packages of Debian, beyond those of what it is based on
/// @param npm null for no npm packages
/// @param files sorted by path
/// @param environment of the agent
record DerivedDefinition(
        String label,
        String text,
        String name,
        String from,
        List<String> packages,
        @Nullable NpmPart npm,
        List<FilePart> files,
        SortedMap<String, String> environment) {

    DerivedDefinition {
        packages = List.copyOf(packages);
        files = List.copyOf(files);
        environment = Collections.unmodifiableSortedMap(new TreeMap<>(environment));
    }

    /// The same, based on another one.
    DerivedDefinition basedOn(String other) {
        return new DerivedDefinition(label, text, name, other, packages, npm, files, environment);
    }

    /// npm packages.
    ///
    /// @param label the lock's file name
    /// @param text the lock's content
    record NpmPart(String label, byte[] text, NpmLock lock) {}

    /// A file that goes into the image: a copy of one on this host, or one with this text.
    ///
    /// @param path in the guest
    /// @param mode octal, four digits
    record FilePart(
            String path,
            String mode,
            @Nullable Path source,
            @Nullable String text) {}
}
