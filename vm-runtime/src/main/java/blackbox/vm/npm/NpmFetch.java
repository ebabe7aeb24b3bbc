package blackbox.vm.npm;

import blackbox.schemas.Progress;
import blackbox.vm.Command;
import blackbox.vm.ScratchFolder;
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
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Fetches archives of packages with the machine's own npm: the registry, the credentials, the proxy and whom
/// to trust are those of its configuration (`npm config get registry`). Whatever comes is used only if it has
/// the SHA-512 of the lock. npm runs no script of any package for this.
public final class NpmFetch {
    /// How many packages are fetched by one call; after each, they are handed over and progress is reported.
    private static final int PORTION = 16;

    private static final Duration PATIENCE = Duration.ofMinutes(15);
    private static final int REASON_CHARS_MAX = 300;
    private static final Pattern REGISTRY =
            Pattern.compile("(@[A-Za-z0-9._-]+:)?registry\\s*=\\s*\"?https?://[^$\\s\"]+\"?");

    private final Path scratch;
    private final Path folder;
    private final @Nullable String registry;
    private final Progress progress;

    /// @param scratch where archives arrive, and npm's cache is
    /// @param folder whose `.npmrc` counts, beside the user's own, but for nothing but registries
    /// @param registry instead of the configured one, or null
    public NpmFetch(Path scratch, Path folder, @Nullable String registry, Progress progress) {
        this.scratch = scratch;
        this.folder = folder;
        this.registry = registry;
        this.progress = progress;
    }

    /// Takes what was fetched.
    @FunctionalInterface
    public interface Taker {
        /// @param archive to be moved away; its SHA-512 is the package's
        void take(NpmPackage npmPackage, Path archive) throws VmException;
    }

    /// Fetches each of these packages, once for all that have the same archive.
    ///
    /// @throws VmException `TOOL_MISSING` without npm, `MIRROR` when the registry does not have a package
    ///     as locked
    public void fetch(Collection<NpmPackage> wanted, Taker taker) throws VmException {
        var byArchive = new LinkedHashMap<String, NpmPackage>();
        wanted.forEach(each -> byArchive.putIfAbsent(each.integrity(), each));
        var all = new ArrayList<>(byArchive.values());
        if (all.isEmpty()) {
            return;
        }
        checkConfiguration();
        Path npm = npm();
        progress.say("fetching " + all.size() + (all.size() == 1 ? " npm package" : " npm packages"));
        for (int from = 0; from < all.size(); from += PORTION) {
            List<NpmPackage> portion = all.subList(from, Math.min(from + PORTION, all.size()));
            List<NpmPackage> missing = portion(npm, portion, taker);
            // Alone: npm says what is wrong with it, and no other file has the name of its own.
            for (NpmPackage each : missing) {
                if (!portion(npm, List.of(each), taker).isEmpty()) {
                    throw new VmException(
                            Code.MIRROR,
                            "the registry's archive of the npm package " + each.spec()
                                    + " is not the locked one, " + each.integrity()
                                    + "; if it is the registry that is right, have npm write the lock again");
                }
            }
            progress.say("fetched " + (from + portion.size()) + " of " + all.size() + " npm packages");
        }
    }

    /// Whoever wrote the definition may have written the configuration beside it, and npm has the user's environment.
    private void checkConfiguration() throws VmException {
        Path file = folder.resolve(".npmrc");
        if (!Files.exists(file)) {
            return;
        }
        try {
            for (String line : Files.readString(file).split("\\R", -1)) {
                String setting = line.strip();
                boolean harmless = setting.isEmpty() || setting.startsWith("#") || setting.startsWith(";");
                if (!harmless && !REGISTRY.matcher(setting).matches()) {
                    throw new VmException(
                            Code.IMAGE_DEFINITION,
                            file
                                    + " may only name registries, without variables (registry=https://…, @scope:registry=…);"
                                    + " what else npm needs belongs into your own configuration, ~/.npmrc");
                }
            }
        } catch (IOException e) {
            throw new VmException(Code.IO, file + " cannot be read", e);
        }
    }

    /// @return the packages whose archives were not among what came
    private List<NpmPackage> portion(Path npm, List<NpmPackage> portion, Taker taker) throws VmException {
        var missing = new HashMap<String, NpmPackage>();
        portion.forEach(each -> missing.put(each.integrity(), each));
        try (var arrived = ScratchFolder.in(scratch, "npm-")) {
            Command.Outcome outcome = pack(npm, portion, arrived.path()).attempt();
            for (Path each : archives(arrived.path())) {
                NpmPackage one = missing.remove(NpmPackage.integrity(each));
                if (one != null) {
                    taker.take(one, each);
                }
            }
            if (outcome.exit() != 0 && portion.size() == 1 && !missing.isEmpty()) {
                throw new VmException(
                        Code.MIRROR,
                        "npm could not fetch " + portion.getFirst().spec() + ": " + reason(outcome.errors())
                                + "; check its configuration (npm config get registry), or name a registry with"
                                + " --registry URL");
            }
        }
        return portion.stream()
                .filter(each -> missing.containsKey(each.integrity()))
                .toList();
    }

    private Command pack(Path npm, List<NpmPackage> portion, Path target) {
        var words = new ArrayList<>(List.of(npm.toString(), "pack", "--ignore-scripts"));
        words.addAll(List.of("--loglevel=error", "--no-update-notifier", "--no-audit", "--no-fund", "--no-progress"));
        words.add("--pack-destination=" + target.toAbsolutePath());
        words.add("--cache=" + scratch.resolve("npm-cache").toAbsolutePath());
        if (registry != null) {
            words.add("--registry=" + registry);
        }
        words.add("--");
        portion.forEach(each -> words.add(each.spec()));
        return new Command(words, folder.toAbsolutePath(), environment(), PATIENCE);
    }

    /// The user's: npm's configuration may refer to any of it.
    private static Map<String, String> environment() {
        var environment = new TreeMap<>(System.getenv());
        environment.keySet().removeIf(each -> each.startsWith("BLACKBOX_"));
        environment.remove("LC_ALL");
        return environment;
    }

    /// npm is a tool of the user's, and may be anywhere on their `PATH`.
    private static Path npm() throws VmException {
        String path = System.getenv().getOrDefault("PATH", "");
        Path found = Stream.of(path.split(":"))
                .filter(each -> each.startsWith("/"))
                .map(each -> Path.of(each, "npm"))
                .filter(Files::isExecutable)
                .findFirst()
                .orElseGet(() -> Command.find("npm"));
        if (found == null) {
            throw new VmException(
                    Code.TOOL_MISSING,
                    "npm packages are fetched with the machine's own npm, and there is none on the PATH; install one"
                            + " (apt-get install npm), or import the image (`blackbox image import`)");
        }
        return found;
    }

    private static List<Path> archives(Path folder) throws VmException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.filter(each -> each.toString().endsWith(".tgz")).sorted().toList();
        } catch (IOException e) {
            throw new VmException(Code.IO, folder + " could not be listed", e);
        }
    }

    /// The first of npm's complaints, without its prefix.
    private static String reason(String errors) {
        List<String> lines = errors.lines()
                .map(line -> line.replaceFirst("^npm (?:error|ERR!) ?", "").strip())
                .filter(line -> !line.isEmpty() && !line.startsWith("A complete log") && !line.startsWith("code "))
                .toList();
        String reason = String.join(" ", lines);
        return reason.isEmpty() ? "it said nothing" : reason.substring(0, Math.min(reason.length(), REASON_CHARS_MAX));
    }
}
