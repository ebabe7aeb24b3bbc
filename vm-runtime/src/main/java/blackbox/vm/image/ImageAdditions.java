package blackbox.vm.image;

import blackbox.schemas.Hash;
import blackbox.vm.Json;
import blackbox.vm.npm.NpmPackage;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// What an image has besides Debian's packages, all of it in the archive: npm packages, files and environment
/// variables.
///
/// @param from name of the definition that the image's own one is based on
/// @param npm in the order of their paths
/// @param files in the order of their paths
/// @param environment of the agent; names and values
/// @param sources what the definition and the npm lock were written as: file name → object. Nothing is
///     built from them
public record ImageAdditions(
        String from,
        List<AddedPackage> npm,
        List<AddedFile> files,
        SortedMap<String, String> environment,
        SortedMap<String, AddedObject> sources) {
    private static final Pattern VARIABLE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,200}");
    private static final int ENVIRONMENT_CHARS_MAX = 128 << 10;
    private static final Pattern FOLDERS =
            Pattern.compile("/(?:usr/local/(?:bin|etc|lib|share)|opt|srv|etc|home/agent)/.+");
    /// The supervisor's Python and loader read these, too; the others are written by the build or for each run.
    private static final Pattern KEPT = Pattern.compile(
            "/(?:usr/local/lib/python|opt/npm/|etc/(?:blackbox/|python|ld\\.so|ssl/certs/|passwd|group|shadow|gshadow|"
                    + "hosts$|hostname$|resolv\\.conf$|machine-id$)).*");
    private static final Pattern MODE = Pattern.compile("0[0-7]{3}");

    public ImageAdditions {
        npm = List.copyOf(npm);
        files = List.copyOf(files);
        environment = Collections.unmodifiableSortedMap(new TreeMap<>(environment));
        sources = Collections.unmodifiableSortedMap(new TreeMap<>(sources));
        for (Map.Entry<String, String> each : environment.entrySet()) {
            String fault = variableFault(each.getKey(), each.getValue());
            require(fault == null, "the variable '" + each.getKey() + "' " + fault);
        }
        require(
                environment.entrySet().stream()
                                .mapToInt(each ->
                                        each.getKey().length() + each.getValue().length())
                                .sum()
                        <= ENVIRONMENT_CHARS_MAX,
                "the variables have more than 128 KiB");
    }

    /// An object of the archive.
    ///
    /// @param bytes its length
    public record AddedObject(String sha256, long bytes) {
        public AddedObject {
            Hash.ofHex(sha256);
            require(bytes >= 0, "an object of " + bytes + " bytes");
        }
    }

    /// An npm package and its archive.
    public record AddedPackage(NpmPackage npm, AddedObject object) {}

    /// A file.
    ///
    /// @param path in the guest
    /// @param mode octal, four digits
    public record AddedFile(String path, String mode, AddedObject object) {
        public AddedFile {
            String fault = pathFault(path);
            require(fault == null, "the file '" + path + "' " + fault);
            require(MODE.matcher(mode).matches(), "the mode '" + mode + "' is not four octal digits such as 0644");
        }
    }

    /// Why a definition may not put a file at this path, to follow the path in a sentence; null if it may.
    public static @Nullable String pathFault(String path) {
        boolean odd = path.length() > 1000
                || path.endsWith("/")
                || path.chars().anyMatch(each -> each < ' ' || each == '\uFFFD')
                || List.of(path.substring(Math.min(1, path.length())).split("/", -1)).stream()
                        .anyMatch(
                                part -> part.isEmpty() || part.equals(".") || part.equals("..") || part.length() > 200);
        if (odd || !path.startsWith("/")) {
            return "is not an absolute path of a file without '.', '..' and doubled slashes";
        }
        if (!FOLDERS.matcher(path).matches()) {
            return "is not below /usr/local (bin, etc, lib, share), /opt, /srv, /etc or /home/agent; the rest of the image"
                    + " belongs to its packages, and a workspace goes in with record --workspace";
        }
        return KEPT.matcher(path).matches()
                ? "would change what runs and watches the agent, or what the build writes"
                : null;
    }

    /// Why a variable cannot be set, to follow its name in a sentence; null if it can.
    public static @Nullable String variableFault(String name, String value) {
        if (!VARIABLE.matcher(name).matches()) {
            return "has a name that is not made of letters, digits and underscores";
        }
        return value.indexOf('\0') >= 0 ? "has a NUL in its value" : null;
    }

    /// Each object that the image is made of or that says what was asked for, with its length.
    public Map<String, Long> objects() {
        var objects = new TreeMap<String, Long>();
        npm.forEach(each -> objects.put(each.object().sha256(), each.object().bytes()));
        files.forEach(each -> objects.put(each.object().sha256(), each.object().bytes()));
        sources.values().forEach(each -> objects.put(each.sha256(), each.bytes()));
        return objects;
    }

    /// All of it that is in the image, as text: the same text for the same content, however that was written
    /// down.
    String contents() {
        return Json.line(Json.tree(new ImageAdditions("", npm, files, environment, new TreeMap<>())));
    }

    /// What an object is, in words for people; null if it is none of these.
    public @Nullable String describe(String sha256) {
        for (AddedPackage each : npm) {
            if (each.object().sha256().equals(sha256)) {
                return "the npm package " + each.npm().spec();
            }
        }
        for (AddedFile each : files) {
            if (each.object().sha256().equals(sha256)) {
                return "the file " + each.path();
            }
        }
        return sources.entrySet().stream()
                .filter(each -> each.getValue().sha256().equals(sha256))
                .map(each -> "the source " + each.getKey())
                .findFirst()
                .orElse(null);
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalArgumentException("image definition: " + otherwise);
        }
    }
}
