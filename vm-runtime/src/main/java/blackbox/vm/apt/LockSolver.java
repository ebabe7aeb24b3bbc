package blackbox.vm.apt;

import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.apt.PrivateApt.Solution;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/// Finds versions for packages of which some are kept and others are gone. apt's solver alone decides what is
/// compatible: it is first asked to prefer everything that is kept and, if that has no solution, with as few
/// kept packages given up as the search finds.
public final class LockSolver {
    /// Each attempt takes a few tenths of a second.
    private static final int ATTEMPTS_MAX = 80;

    private final PrivateApt apt;
    private final List<String> wanted;
    private final Map<PackageVersion, String> refused;
    private final Set<String> kept = new TreeSet<>();
    private final Set<PackageVersion> versions;
    private int attempts;

    /// @param wanted what is asked for, with all that it depends on
    /// @param kept packages that were offered to `apt`
    /// @param refused versions that are not available, each with the reason
    public LockSolver(
            PrivateApt apt, List<String> wanted, Collection<PackageVersion> kept, Map<PackageVersion, String> refused) {
        this.apt = apt;
        this.wanted = wanted;
        this.refused = refused;
        this.versions = Set.copyOf(kept);
        kept.forEach(each -> this.kept.add(each.name()));
    }

    /// Every package that is needed.
    ///
    /// @throws VmException `MIRROR` when not even the newest packages are compatible
    public List<PackageVersion> solve() throws VmException {
        List<PackageVersion> asLocked = without(Set.of());
        if (asLocked != null) {
            return asLocked;
        }
        Solution newest = apt.solve(wanted, List.of(), refused.keySet());
        List<PackageVersion> chosen = newest.chosen();
        if (chosen == null) {
            throw new VmException(Code.MIRROR, impossible(newest.why()));
        }
        var differing = new TreeSet<>(kept);
        // Packages whose kept version is also the newest solution's do not matter.
        chosen.stream().filter(versions::contains).forEach(each -> differing.remove(each.name()));
        return fewestGivenUp(differing, chosen);
    }

    private String impossible(String why) {
        var lost = new StringJoiner(", ", "there is no replacement for ", ": ").setEmptyValue("");
        refused.forEach((each, reason) -> lost.add(each + " (" + reason + ")"));
        return lost + "the mirror's packages are not compatible with each other (" + why
                + "); try again when the mirror is complete, or name another one with --mirror URL";
    }

    /// Starts from the newest of everything and then keeps what can be kept, in ever smaller portions:
    /// first all packages of a source together, which may depend on one another's exact versions, then single
    /// ones.
    private List<PackageVersion> fewestGivenUp(Set<String> differing, List<PackageVersion> newest) throws VmException {
        var sources = new TreeMap<String, List<String>>();
        differing.forEach(each -> sources.computeIfAbsent(apt.source(each), _ -> new ArrayList<>())
                .add(each));
        var search = new Search(newest);
        List<List<String>> given = search.fewest(List.copyOf(sources.values()), sources.size());
        search.fewest(given.stream().flatMap(List::stream).map(List::of).toList(), 1);
        return search.best;
    }

    /// A solution so far, and the search for one that keeps more packages.
    private final class Search {
        private List<PackageVersion> best;

        Search(List<PackageVersion> newest) {
            this.best = newest;
        }

        /// @param portion how many units are kept at once at first
        List<List<String>> fewest(List<List<String>> units, int portion) throws VmException {
            List<List<String>> given = units;
            for (int size = portion; size > 0; size = size == 1 ? 0 : (size + 1) / 2) {
                for (int from = 0; from < given.size() && attempts < ATTEMPTS_MAX; ) {
                    var fewer = new ArrayList<>(given);
                    fewer.subList(from, Math.min(from + size, given.size())).clear();
                    List<PackageVersion> found =
                            without(fewer.stream().flatMap(List::stream).toList());
                    if (found == null) {
                        from += size;
                    } else {
                        best = found;
                        given = fewer;
                    }
                }
            }
            return given;
        }
    }

    private @Nullable List<PackageVersion> without(Collection<String> given) throws VmException {
        attempts++;
        var preferred = new TreeSet<>(kept);
        preferred.removeAll(given);
        return apt.solve(wanted, preferred, refused.keySet()).chosen();
    }
}
