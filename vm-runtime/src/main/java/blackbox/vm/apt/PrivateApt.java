package blackbox.vm.apt;

import blackbox.vm.Command;
import blackbox.vm.Command.Outcome;
import blackbox.vm.FileFingerprint;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// apt with a state of its own in a scratch folder: it sees an empty system. One thread.
public final class PrivateApt implements AutoCloseable {
    private static final Duration FETCH_TIMEOUT = Duration.ofMinutes(15);
    private static final String KEPT_LABEL = "blackbox-kept";
    /// Above every archive's priority, so that a kept package is chosen even if there is a newer one.
    private static final int KEPT_PRIORITY = 995;
    /// What apt prints when an archive answered but does not have the file; everything else is a connection
    /// problem.
    private static final Pattern NOT_THERE = Pattern.compile(
            "\\b(404|410)\\b|not found|No such file|Hash Sum mismatch|unexpected size", Pattern.CASE_INSENSITIVE);
    private static final Pattern FAILED_FETCH = Pattern.compile("(?m)^E: Failed to fetch \\S+ +(.+)$");
    private static final Pattern NO_ROOM =
            Pattern.compile("No space left on device|enough free space", Pattern.CASE_INSENSITIVE);

    private final AptState state;
    private final Map<String, String> sources = new HashMap<>();

    private PrivateApt(AptState state) {
        this.state = state;
    }

    /// Sets up the state below `scratch` and fetches the lists.
    ///
    /// @param sources as in `sources.list`, see [AptSources]
    /// @throws VmException `MIRROR`; `TOOL_MISSING` on a machine without apt
    public static PrivateApt open(Path scratch, String sources, String architecture) throws VmException {
        AptState state = AptState.in(scratch, architecture);
        try {
            state.write("etc/sources.list", sources);
            var apt = new PrivateApt(state);
            Outcome update = apt.attempt("apt-get", "update", "-o", "APT::Update::Error-Mode=any");
            if (update.exit() != 0) {
                throw unreachable(update);
            }
            return apt;
        } catch (VmException e) {
            state.close();
            throw e;
        }
    }

    /// Every version of these packages that the lists have.
    public List<DebFile> known(Collection<String> names) throws VmException {
        if (names.isEmpty()) {
            return List.of();
        }
        var command = new ArrayList<>(List.of("apt-cache", "show", "--all-versions"));
        command.addAll(names);
        var found = new ArrayList<DebFile>();
        // Its exit code is 100 if none of the packages is known.
        for (String stanza : attempt(command.toArray(String[]::new)).output().split("\n\n")) {
            DebFile each = listed(stanza);
            if (each != null) {
                found.add(each);
            }
        }
        return found;
    }

    /// The entry of a package's newest version, as in `Packages`.
    ///
    /// @throws VmException `MIRROR` when there is no such package
    public String show(String name) throws VmException {
        Outcome shown = attempt("apt-cache", "show", "--no-all-versions", name);
        if (shown.exit() != 0) {
            throw new VmException(Code.MIRROR, "the package mirror has no package '" + name + "'");
        }
        return shown.output();
    }

    /// Receives a fetched file, for example to archive it.
    @FunctionalInterface
    public interface Taker {
        /// Moves `file`.
        void take(Path file) throws VmException;
    }

    /// Fetches these packages. Each one that arrives with the right digest is passed to `taker` before anything is
    /// thrown; the others are deleted.
    ///
    /// @return which of them the archive does not have, or has with other octets, with apt's message
    /// @throws VmException `MIRROR` when the archive stopped answering; `DISK_FULL`
    public Map<DebFile, String> fetch(Collection<DebFile> wanted, Taker taker) throws VmException {
        var missing = new LinkedHashMap<DebFile, String>();
        if (wanted.isEmpty()) {
            return missing;
        }
        var open = new LinkedHashSet<>(wanted);
        download(wanted, open, taker);
        for (DebFile each : List.copyOf(open)) {
            // Alone, so that apt's message is about this package. It was tried several times already.
            Outcome again = download(List.of(each), open, taker, "-o", "Acquire::Retries=0");
            if (open.contains(each)) {
                missing.put(each, reason(each.identity(), again));
            }
        }
        return missing;
    }

    /// Offers packages that are available locally: [#solve] may then prefer them. apt gets only their
    /// metadata and never fetches them.
    public void offer(Collection<Path> packages) throws VmException {
        sources.putAll(state.offer(packages, KEPT_LABEL));
        Outcome update = attempt(
                "apt-get",
                "update",
                "-o",
                "APT::Update::Error-Mode=any",
                "-o",
                "Dir::Etc::sourcelist=" + state.path("etc/kept.list"),
                "-o",
                "Dir::Etc::sourceparts=/dev/null",
                "-o",
                "APT::Get::List-Cleanup=0");
        if (update.exit() != 0) {
            throw new VmException(Code.TOOL_FAILED, "apt cannot read the kept packages: " + firstError(update));
        }
        state.append("etc/sources.list", state.read("etc/kept.list"));
    }

    /// The source package of an offered package: packages built from one source are usually compatible only
    /// with each other.
    String source(String name) {
        return sources.getOrDefault(name, name);
    }

    /// What apt's solver chose, or why it could not.
    ///
    /// @param chosen every package that is needed; null when there is no solution
    /// @param why apt's message when there is no solution
    public record Solution(@Nullable List<PackageVersion> chosen, String why) {}

    /// Resolves `wanted` with all dependencies, without fetching anything.
    ///
    /// @param kept names of packages for which the offered version is taken, not the newest
    /// @param refused versions that are not available, even if the lists have them
    public Solution solve(List<String> wanted, Collection<String> kept, Set<PackageVersion> refused)
            throws VmException {
        var preferences = new StringBuilder();
        for (PackageVersion each : refused) {
            pin(preferences, each.name(), "version " + each.version(), -1);
        }
        for (String each : kept) {
            pin(preferences, each, "release l=" + KEPT_LABEL, KEPT_PRIORITY);
        }
        state.write("etc/preferences", preferences.toString());
        var command = new ArrayList<>(List.of("apt-get", "-y", "-q", "--download-only", "--print-uris", "install"));
        command.addAll(wanted);
        Outcome outcome = attempt(command.toArray(String[]::new));
        return outcome.exit() == 0
                ? new Solution(printed(outcome.output()), "")
                : new Solution(null, unmet(outcome.output()) + firstError(outcome));
    }

    /// The newest versions of these packages, without their dependencies.
    ///
    /// @throws VmException `MIRROR` when one is not known
    public List<PackageVersion> newest(List<String> names) throws VmException {
        var command = new ArrayList<>(List.of("apt-get", "-qq", "--print-uris", "download"));
        command.addAll(names);
        Outcome outcome = attempt(command.toArray(String[]::new));
        if (outcome.exit() != 0) {
            throw new VmException(Code.MIRROR, "the package mirror: " + firstError(outcome));
        }
        return printed(outcome.output());
    }

    @Override
    public void close() throws VmException {
        state.close();
    }

    private Outcome download(Collection<DebFile> wanted, Set<DebFile> open, Taker taker, String... options)
            throws VmException {
        var command = new ArrayList<>(List.of("apt-get", "-qq", "download"));
        command.addAll(List.of(options));
        wanted.forEach(each -> command.add(each.identity().specification()));
        try {
            return attempt(command.toArray(String[]::new));
        } finally {
            takeFetched(open, taker);
        }
    }

    /// apt leaves a partial file under the final name when a download was cut off, so each file is hashed.
    private void takeFetched(Set<DebFile> open, Taker taker) throws VmException {
        try (Stream<Path> all = Files.list(state.archives())) {
            for (Path file : all.filter(Files::isRegularFile).sorted().toList()) {
                String sha256 = FileFingerprint.hash(file).toString();
                PackageVersion version = PackageVersion.ofFileName(String.valueOf(file.getFileName()));
                if (open.removeIf(
                        each -> each.sha256().equals(sha256) && each.identity().equals(version))) {
                    taker.take(file);
                } else {
                    Files.delete(file);
                }
            }
        } catch (IOException e) {
            throw new VmException(Code.IO, state.archives() + " could not be read", e);
        }
    }

    private static String reason(PackageVersion wanted, Outcome failed) throws VmException {
        if (NO_ROOM.matcher(failed.errors()).find()) {
            throw new VmException(
                    Code.DISK_FULL, "there is no room for the package " + wanted + "; make room below the data folder");
        }
        var found = FAILED_FETCH.matcher(failed.errors());
        String said = found.find() ? found.group(1).strip() : firstError(failed);
        if (failed.exit() == 0) {
            return "the downloaded file has the wrong digest";
        }
        if (!NOT_THERE.matcher(said).find()) {
            throw new VmException(
                    Code.MIRROR,
                    "the package " + wanted + " could not be downloaded completely from the mirror (" + said
                            + "); what has arrived is kept, so try again, or name another mirror with --mirror URL");
        }
        return said;
    }

    private static VmException unreachable(Outcome update) {
        if (NO_ROOM.matcher(update.errors()).find()) {
            return new VmException(
                    Code.DISK_FULL, "there is no room for apt's lists of packages; make room below the data folder");
        }
        var found = FAILED_FETCH.matcher(update.errors());
        return new VmException(
                Code.MIRROR,
                "the package mirror cannot be used ("
                        + (found.find() ? found.group(1).strip() : firstError(update))
                        + "); check the network and this machine's apt sources, name another mirror with --mirror URL,"
                        + " or bring the packages from a machine that has them: `blackbox image export` there, `blackbox"
                        + " image import` here");
    }

    private static @Nullable DebFile listed(String stanza) throws VmException {
        var fields = new TreeMap<String, String>();
        stanza.lines()
                .map(line -> line.split(": ", 2))
                .filter(words -> words.length == 2)
                .forEach(words -> fields.put(words[0], words[1].strip()));
        String sha256 = fields.get("SHA256");
        String size = fields.get("Size");
        if (sha256 == null || size == null) {
            return null;
        }
        String name = fields.getOrDefault("Package", "");
        try {
            return new DebFile(
                    name,
                    fields.getOrDefault("Version", ""),
                    fields.getOrDefault("Architecture", ""),
                    sha256,
                    Long.parseLong(size));
        } catch (IllegalArgumentException e) {
            throw new VmException(
                    Code.MIRROR,
                    "the package mirror's lists are damaged at " + (name.isEmpty() ? "an unnamed package" : name)
                            + "; try again, or name another one with --mirror URL",
                    e);
        }
    }

    /// Reads the lines `'ADDRESS' FILE SIZE` of apt's `--print-uris`.
    private static List<PackageVersion> printed(String output) throws VmException {
        var versions = new ArrayList<PackageVersion>();
        for (String line : output.lines().filter(each -> each.startsWith("'")).toList()) {
            String[] words = line.substring(line.lastIndexOf('\'') + 1).strip().split(" ");
            PackageVersion version = PackageVersion.ofFileName(words[0]);
            if (version == null) {
                throw new VmException(Code.TOOL_FAILED, "apt-get printed an unexpected line: " + line);
            }
            versions.add(version);
        }
        return versions;
    }

    private static void pin(StringBuilder preferences, String name, String pin, int priority) {
        preferences.append("Package: ").append(name).append("\nPin: ").append(pin);
        preferences.append("\nPin-Priority: ").append(priority).append("\n\n");
    }

    private static String unmet(String output) {
        return output.lines()
                .filter(line -> line.startsWith(" ") && line.contains("Depends: "))
                .limit(3)
                .map(line -> line.strip() + "; ")
                .reduce("", String::concat);
    }

    private static String firstError(Outcome outcome) {
        return outcome.errors()
                .lines()
                .filter(line -> line.startsWith("E: "))
                .map(line -> line.substring(3))
                .findFirst()
                .orElse("apt ended with " + outcome.exit());
    }

    private Outcome attempt(String... command) throws VmException {
        return Command.of(command)
                .in(state.archives())
                .with("APT_CONFIG", state.path("apt.conf").toString())
                .within(FETCH_TIMEOUT)
                .attempt();
    }
}
