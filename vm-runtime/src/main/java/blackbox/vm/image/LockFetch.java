package blackbox.vm.image;

import blackbox.schemas.Progress;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.apt.DebFile;
import blackbox.vm.apt.LockDifference;
import blackbox.vm.apt.LockSolver;
import blackbox.vm.apt.PackageVersion;
import blackbox.vm.apt.PrivateApt;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Fetches the packages of an image's or QEMU's lock into the archive. Locked packages that are available are taken
/// exactly as locked, by version and digest. For those that the mirror no longer has, newer ones and their
/// dependencies are found, and everything that is still compatible stays as locked. What has arrived stays in the
/// archive, whatever fails afterwards, so that a second attempt resumes from there. One thread.
public final class LockFetch implements AutoCloseable {
    /// How many times newer packages are looked for when the chosen ones turn out not to exist.
    private static final int ROUNDS_MAX = 4;
    /// How many packages are fetched at once; after each batch, they are archived and progress is reported.
    private static final int PORTION = 24;

    private static final int NAMED_MAX = 20;

    private final PackageArchive archive;
    private final Progress progress;
    private final Mirror mirror;
    private @Nullable PrivateApt apt;

    /// Where packages are fetched from.
    @FunctionalInterface
    public interface Mirror {
        /// Fetches the mirror's lists.
        ///
        /// @throws VmException `MIRROR` when it cannot be used
        PrivateApt open() throws VmException;
    }

    /// @param mirror asked only when the archive lacks something
    public LockFetch(PackageArchive archive, Progress progress, Mirror mirror) {
        this.archive = archive;
        this.progress = progress;
        this.mirror = mirror;
    }

    /// Fetches those of `locked` that are not in the archive yet.
    ///
    /// @return the packages that are not available as locked, with the reason; each was reported to progress
    /// @throws VmException `MIRROR` when the mirror cannot be reached or stopped answering, `DISK_FULL`
    public Map<DebFile, String> take(Collection<DebFile> locked) throws VmException {
        List<DebFile> missing = missing(locked);
        var gone = new LinkedHashMap<DebFile, String>();
        if (missing.isEmpty()) {
            return gone;
        }
        progress.say("fetching " + missing.size() + " of " + locked.size() + " locked packages, "
                + (missing.stream().mapToLong(DebFile::bytes).sum() >> 20) + " MiB");
        var there = new ArrayList<DebFile>();
        List<DebFile> known =
                apt().known(missing.stream().map(DebFile::name).distinct().toList());
        for (DebFile each : missing) {
            String why = unavailable(each, known);
            if (why == null) {
                there.add(each);
            } else {
                gone.put(each, why);
            }
        }
        gone.putAll(fetch(there));
        gone.forEach((each, why) -> progress.say(each.identity() + " could not be used: " + why));
        return gone;
    }

    /// Finds packages for `wanted` and all that they depend on: those of `locked` that are in the archive if
    /// they are compatible, and the newest otherwise; fetches what the archive lacks.
    ///
    /// @param gone what [#take] returned
    /// @throws VmException `MIRROR`, `DISK_FULL`
    public List<DebFile> renew(List<String> wanted, Collection<DebFile> locked, Map<DebFile, String> gone)
            throws VmException {
        var kept = new HashMap<PackageVersion, DebFile>();
        locked.stream().filter(each -> archive.has(each.sha256())).forEach(each -> kept.put(each.identity(), each));
        var refused = new LinkedHashMap<PackageVersion, String>();
        gone.forEach((each, why) -> refused.put(each.identity(), why));
        if (!kept.isEmpty()) {
            apt().offer(kept.values().stream()
                    .map(each -> archive.path(each.sha256()))
                    .toList());
        }
        for (int round = 0; round < ROUNDS_MAX; round++) {
            List<PackageVersion> chosen = new LockSolver(apt(), wanted, kept.keySet(), refused).solve();
            var taken = new ArrayList<DebFile>();
            Map<PackageVersion, String> failed = takeNew(chosen, kept, taken);
            if (failed.isEmpty()) {
                return taken;
            }
            failed.forEach((each, why) -> progress.say(each + " could not be used: " + why));
            refused.putAll(failed);
        }
        throw new VmException(
                Code.MIRROR,
                "the mirror lists packages that it does not have; try again when it is complete, or name another one with"
                        + " --mirror URL");
    }

    /// The newest version of each of these packages, without their dependencies.
    ///
    /// @throws VmException `MIRROR`
    public List<DebFile> newest(List<String> names) throws VmException {
        var taken = new ArrayList<DebFile>();
        Map<PackageVersion, String> failed = takeNew(apt().newest(names), Map.of(), taken);
        for (var each : failed.entrySet()) {
            throw new VmException(
                    Code.MIRROR,
                    "the package " + each.getKey() + " could not be used (" + each.getValue()
                            + "); try again when the mirror is complete, or name another one with --mirror URL");
        }
        return taken;
    }

    /// The mirror, for questions about its lists.
    public PrivateApt apt() throws VmException {
        PrivateApt opened = apt;
        if (opened == null) {
            opened = mirror.open();
            apt = opened;
        }
        return opened;
    }

    /// Reports how a new lock differs from the one that was not available.
    ///
    /// @param what differs because of that, for example `the image`
    public void tell(String what, List<LockDifference> differences) {
        progress.say(what + " will not be the locked one: it differs in " + differences.size()
                + (differences.size() == 1 ? " package" : " packages"));
        differences.stream().limit(NAMED_MAX).forEach(each -> progress.say("  " + each.sentence()));
        if (differences.size() > NAMED_MAX) {
            progress.say("  and " + (differences.size() - NAMED_MAX) + " more; its record lists all of them");
        }
    }

    @Override
    public void close() throws VmException {
        if (apt != null) {
            apt.close();
        }
    }

    private List<DebFile> missing(Collection<DebFile> packages) {
        return packages.stream().filter(each -> !archive.has(each.sha256())).toList();
    }

    /// Why the lists do not have this file; null when they do.
    private static @Nullable String unavailable(DebFile wanted, List<DebFile> known) {
        var versions = known.stream()
                .filter(each -> each.identity().equals(wanted.identity()))
                .toList();
        if (versions.isEmpty()) {
            return "the mirror no longer has this version";
        }
        return versions.stream().anyMatch(each -> each.sha256().equals(wanted.sha256()))
                ? null
                : "the mirror has another file under this version, SHA-256 "
                        + versions.getFirst().sha256() + " instead of " + wanted.sha256();
    }

    /// Takes `chosen` from the kept packages, the archive or the mirror, and adds each to `taken`.
    private Map<PackageVersion, String> takeNew(
            List<PackageVersion> chosen, Map<PackageVersion, DebFile> kept, List<DebFile> taken) throws VmException {
        var fresh = new ArrayList<PackageVersion>();
        for (PackageVersion each : chosen) {
            DebFile known = kept.get(each);
            if (known == null) {
                fresh.add(each);
            } else {
                taken.add(known);
            }
        }
        Map<PackageVersion, DebFile> files = files(fresh);
        var failed = new LinkedHashMap<PackageVersion, String>();
        fetch(missing(files.values())).forEach((each, why) -> failed.put(each.identity(), why));
        files.values().stream().filter(each -> archive.has(each.sha256())).forEach(taken::add);
        return failed;
    }

    /// The files of these versions, according to the mirror's lists.
    private Map<PackageVersion, DebFile> files(List<PackageVersion> versions) throws VmException {
        var files = new LinkedHashMap<PackageVersion, DebFile>();
        apt().known(versions.stream().map(PackageVersion::name).distinct().toList())
                .forEach(each -> files.putIfAbsent(each.identity(), each));
        files.keySet().retainAll(versions);
        if (files.size() != versions.size()) {
            throw new VmException(Code.MIRROR, "the mirror's lists do not give a SHA-256 for every package");
        }
        return files;
    }

    /// Fetches these into the archive, in batches.
    private Map<DebFile, String> fetch(List<DebFile> wanted) throws VmException {
        var failed = new LinkedHashMap<DebFile, String>();
        for (int from = 0; from < wanted.size(); from += PORTION) {
            int to = Math.min(from + PORTION, wanted.size());
            failed.putAll(apt().fetch(wanted.subList(from, to), archive::take));
            progress.say("fetched " + (to - failed.size()) + " of " + wanted.size() + " packages");
        }
        return failed;
    }
}
