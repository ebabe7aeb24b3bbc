package blackbox.vm.apt;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// How a locked package has changed.
///
/// @param name of the package
/// @param locked the version in the lock; null when the lock did not have the package
/// @param taken the version that was taken; null when the package is no longer needed
public record LockDifference(
        String name, @Nullable String locked, @Nullable String taken) {

    /// How `taken` differs from `locked`, by name; a file with other content differs even if its version is the
    /// same.
    public static List<LockDifference> between(Collection<DebFile> locked, Collection<DebFile> taken) {
        Map<String, DebFile> before = byName(locked);
        Map<String, DebFile> after = byName(taken);
        var names = new TreeSet<>(before.keySet());
        names.addAll(after.keySet());
        var differences = new ArrayList<LockDifference>();
        for (String name : names) {
            DebFile old = before.get(name);
            DebFile fresh = after.get(name);
            if (old == null || fresh == null || !old.sha256().equals(fresh.sha256())) {
                differences.add(new LockDifference(
                        name, old == null ? null : old.version(), fresh == null ? null : fresh.version()));
            }
        }
        return differences;
    }

    private static Map<String, DebFile> byName(Collection<DebFile> packages) {
        return packages.stream().collect(Collectors.toMap(DebFile::name, each -> each, (a, b) -> b, TreeMap::new));
    }

    /// For people, in one line.
    public String sentence() {
        if (locked == null) {
            return name + " " + taken + " is needed as well";
        }
        return taken == null ? name + " " + locked + " is no longer needed" : name + " " + locked + " → " + taken;
    }
}
