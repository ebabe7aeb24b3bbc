package blackbox.vm.npm;

import blackbox.vm.Json;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/// Reads npm's `package-lock.json`: which packages go where, for a guest that is Linux on x86-64 with the GNU C
/// library.
///
/// Of its versions, those with the map `packages` are read (2 and 3, npm 7 and newer). Development
/// dependencies are left out, and so is what is optional and for other machines. `resolved`, the address that
/// a package came from when the lock was written, is not used. What is no package of a registry, has no
/// SHA-512, or wants to run install scripts is refused by name.
///
/// @param packages sorted by path, so that a package comes before those below it
public record NpmLock(List<NpmPackage> packages) {
    private static final int PACKAGES_MAX = 10_000;
    private static final int NAMED_MAX = 8;
    private static final String FOLDER = "node_modules/";
    private static final Map<String, String> GUEST = Map.of("os", "linux", "cpu", "x64", "libc", "glibc");

    public NpmLock {
        packages = List.copyOf(packages);
    }

    /// Reads a lock.
    ///
    /// @param label what to call it in messages: its file's name
    /// @param withoutScripts names of packages that are wanted although their install scripts are not run
    /// @throws VmException `IMAGE_DEFINITION` with the place and how to mend it
    public static NpmLock read(byte[] text, String label, Set<String> withoutScripts) throws VmException {
        try {
            return new Reading(label, withoutScripts).lock(Json.parse(new String(text, StandardCharsets.UTF_8)));
        } catch (JsonProcessingException e) {
            var at = e.getLocation();
            throw new VmException(
                    Code.IMAGE_DEFINITION,
                    label + (at == null ? "" : ", line " + at.getLineNr() + ", column " + at.getColumnNr())
                            + ": it is not JSON: " + e.getOriginalMessage(),
                    e);
        }
    }

    /// One reading of a lock.
    private record Reading(String label, Set<String> withoutScripts) {
        NpmLock lock(JsonNode lock) throws VmException {
            int version = lock.path("lockfileVersion").asInt();
            JsonNode all = lock.path("packages");
            if (version != 2 && version != 3 || !all.isObject()) {
                throw refused("it is not a package-lock.json of version 3 (it says " + lock.path("lockfileVersion")
                        + "); npm 7 or newer writes one: npm install --package-lock-only");
            }
            if (all.size() > PACKAGES_MAX) {
                throw refused("it has more than " + PACKAGES_MAX + " packages");
            }
            Set<String> direct = direct(all.path(""));
            var packages = new TreeMap<String, NpmPackage>();
            var left = new HashSet<String>();
            var scripted = new TreeSet<String>();
            // In the order of their paths: what is below a package that is left out is left out with it.
            for (var each : sorted(all).entrySet()) {
                if (isBelow(each.getKey(), left) || isLeftOut(each.getKey(), each.getValue())) {
                    left.add(each.getKey());
                    continue;
                }
                NpmPackage read = npmPackage(each.getKey(), each.getValue(), direct);
                packages.put(read.path(), read);
                if (each.getValue().path("hasInstallScript").asBoolean() && !read.scriptsLeftOut()) {
                    scripted.add(read.name());
                }
            }
            check(packages.values().stream().map(NpmPackage::name).toList(), scripted);
            return new NpmLock(List.copyOf(packages.values()));
        }

        private void check(List<String> names, Set<String> scripted) throws VmException {
            if (names.isEmpty()) {
                throw refused("it has no packages; add some: npm install --package-lock-only NAME");
            }
            if (!scripted.isEmpty()) {
                throw refused(scripted(scripted));
            }
            for (String each : new TreeSet<>(withoutScripts)) {
                if (!names.contains(each)) {
                    throw refused("withoutScripts names '" + each + "', which is not among its packages for the guest");
                }
            }
        }

        /// The entries but the root, by path.
        private static SortedMap<String, JsonNode> sorted(JsonNode all) {
            var sorted = new TreeMap<String, JsonNode>();
            all.properties().forEach(each -> sorted.put(each.getKey(), each.getValue()));
            sorted.remove("");
            return sorted;
        }

        private static Set<String> direct(JsonNode root) {
            var names = new HashSet<String>();
            for (String kind : List.of("dependencies", "optionalDependencies")) {
                root.path(kind).fieldNames().forEachRemaining(names::add);
            }
            return names;
        }

        private static boolean isBelow(String path, Set<String> left) {
            for (int at = path.lastIndexOf('/' + FOLDER); at > 0; at = path.lastIndexOf('/' + FOLDER, at - 1)) {
                if (left.contains(path.substring(0, at))) {
                    return true;
                }
            }
            return false;
        }

        private boolean isLeftOut(String path, JsonNode entry) throws VmException {
            if (Stream.of("dev", "extraneous", "inBundle")
                    .anyMatch(each -> entry.path(each).asBoolean())) {
                return true;
            }
            for (var each : GUEST.entrySet()) {
                if (!allows(entry.path(each.getKey()), each.getValue())) {
                    if (entry.path("optional").asBoolean()
                            || entry.path("devOptional").asBoolean()) {
                        return true;
                    }
                    throw refused(
                            path + " is not for the guest, which is Linux on x64 with glibc: its '" + each.getKey()
                                    + "' is " + entry.path(each.getKey()) + "; leave it out, or make it optional");
                }
            }
            return false;
        }

        /// npm's rule: not what is excluded with `!`, and one of the others if there are any.
        private static boolean allows(JsonNode list, String guest) {
            var words = new ArrayList<String>();
            if (list.isTextual()) {
                words.add(list.asText());
            }
            list.forEach(each -> words.add(each.asText()));
            boolean chosen = words.stream().allMatch(each -> each.startsWith("!"));
            return !words.contains("!" + guest) && (chosen || words.contains(guest) || words.contains("any"));
        }

        private NpmPackage npmPackage(String path, JsonNode entry, Set<String> direct) throws VmException {
            int last = path.lastIndexOf(FOLDER);
            if (entry.path("link").asBoolean() || !path.startsWith(FOLDER)) {
                throw refused("'" + path + "' is a folder of its author's and no package of a registry; an image takes"
                        + " packages of a registry only: put it there, or into 'files'");
            }
            String resolved = entry.path("resolved").asText("");
            if (!resolved.isEmpty() && !resolved.matches("https?://.*")) {
                throw refused(path + " is from '" + resolved.replaceFirst("[:#].*", "")
                        + ":' and not from a registry; an image takes packages of a registry only");
            }
            String name = entry.path("name").asText(path.substring(last + FOLDER.length()));
            String version = text(path, entry, "version");
            boolean root = last == 0 && direct.contains(path.substring(FOLDER.length()));
            try {
                return new NpmPackage(
                        path,
                        name,
                        version,
                        sha512(path, text(path, entry, "integrity")),
                        bin(entry.path("bin")),
                        root,
                        withoutScripts.contains(name));
            } catch (IllegalArgumentException e) {
                throw new VmException(Code.IMAGE_DEFINITION, label + ": " + e.getMessage(), e);
            }
        }

        private String text(String path, JsonNode entry, String field) throws VmException {
            String text = entry.path(field).textValue();
            if (text == null) {
                throw refused(path + " has no '" + field + "'; have npm write the lock again: rm -rf node_modules"
                        + " package-lock.json && npm install --package-lock-only");
            }
            return text;
        }

        private String sha512(String path, String integrity) throws VmException {
            for (String each : integrity.split(" ")) {
                if (each.startsWith("sha512-")) {
                    return each.replaceFirst("\\?.*", "");
                }
            }
            throw refused(path + " has the integrity '" + integrity
                    + "', which is no SHA-512; a version that was published in the last years has one");
        }

        private static SortedMap<String, String> bin(JsonNode bin) {
            var commands = new TreeMap<String, String>();
            bin.properties().forEach(each -> commands.put(each.getKey(), within(each.getValue())));
            return commands;
        }

        /// Many write `./cli.js`.
        private static String within(JsonNode path) {
            return path.asText().replaceFirst("^(\\./+)+", "");
        }

        private VmException refused(String why) {
            return new VmException(Code.IMAGE_DEFINITION, label + ": " + why);
        }
    }

    /// What to say of packages with install scripts.
    static String scripted(Set<String> names) {
        return names.size() + (names.size() == 1 ? " package wants" : " packages want")
                + " to run scripts when installed, and none is run: "
                + String.join(", ", names.stream().limit(NAMED_MAX).toList()) + (names.size() > NAMED_MAX ? ", …" : "")
                + "; name those that work without in 'npm.withoutScripts' of the definition, and leave out the others";
    }
}
