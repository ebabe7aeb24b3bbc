package blackbox.vm.apt;

import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Which of the machine's own package sources serve a suite: both of apt's forms (sources.list(5)), reduced
/// to binary packages of that suite, its updates and its security archive. Packages of other suites and
/// vendors never get into an image.
public final class AptSources {
    /// The machine's own apt configuration.
    public static final Path CONFIGURATION = Path.of("/etc/apt");

    private static final String KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg";

    private AptSources() {}

    /// The sources of a Debian suite as text in apt's one-line form. The suite need not be the machine's own:
    /// if its apt has no source for that suite, the sources of its own release are used with the suite
    /// replaced, since an archive serves every release.
    ///
    /// @param configuration the machine's `/etc/apt`
    /// @param own the suite that this machine runs, as its `os-release` calls it
    /// @param mirror to use instead of the machine's sources, or null
    /// @throws VmException `MIRROR` when the machine has no Debian source
    public static String of(Path configuration, String suite, String own, @Nullable String mirror) throws VmException {
        if (mirror != null) {
            return "deb [signed-by=" + KEYRING + "] " + mirror + " " + suite + " main\n";
        }
        List<String> lines = serving(configuration, suite);
        if (lines.isEmpty() && !own.isEmpty()) {
            lines = serving(configuration, own).stream()
                    .map(line -> moved(line, own, suite))
                    .toList();
        }
        if (lines.isEmpty()) {
            throw new VmException(
                    Code.MIRROR,
                    "this machine's apt has no source for Debian packages; name a Debian mirror with --mirror URL");
        }
        return String.join("\n", lines) + "\n";
    }

    /// The suite that this machine runs, such as `bookworm`; empty if it is not Debian.
    ///
    /// @throws VmException `IO` when `/etc/os-release` cannot be read
    public static String ownSuite() throws VmException {
        Path release = Path.of("/etc/os-release");
        try {
            List<String> lines = Files.exists(release) ? Files.readAllLines(release) : List.of();
            return !lines.contains("ID=debian")
                    ? ""
                    : lines.stream()
                            .filter(line -> line.startsWith("VERSION_CODENAME="))
                            .map(line -> line.substring("VERSION_CODENAME=".length()))
                            .findFirst()
                            .orElse("");
        } catch (IOException e) {
            throw new VmException(Code.IO, release + " could not be read", e);
        }
    }

    /// The line with its suite, the word after the address, changed.
    private static String moved(String line, String own, String suite) {
        int address = line.indexOf("://");
        return line.substring(0, address) + line.substring(address).replaceFirst("(\\s)" + own, "$1" + suite);
    }

    private static List<String> serving(Path configuration, String suite) throws VmException {
        var lines = new ArrayList<String>();
        for (Path file : files(configuration)) {
            String text = read(file);
            lines.addAll(file.toString().endsWith(".sources") ? stanzas(text, suite) : oneLine(text, suite));
        }
        return lines;
    }

    static List<String> oneLine(String text, String suite) {
        return text.lines()
                .map(String::strip)
                .filter(line -> line.startsWith("deb ") || line.startsWith("deb\t"))
                .filter(line -> {
                    String[] words = line.replaceFirst("\\[[^]]*]", "").split("\\s+");
                    return words.length >= 3 && belongs(words[2], suite);
                })
                .toList();
    }

    static List<String> stanzas(String text, String suite) {
        var lines = new ArrayList<String>();
        for (String stanza : text.split("\\n\\s*\\n")) {
            Map<String, String> fields = fields(stanza);
            boolean serves = words(fields, "types").contains("deb")
                    && !fields.getOrDefault("enabled", "yes").strip().equalsIgnoreCase("no");
            if (!serves) {
                continue;
            }
            String signedBy = fields.getOrDefault("signed-by", "").strip();
            String options = signedBy.startsWith("/") ? "[signed-by=" + signedBy + "] " : "";
            String components = String.join(" ", words(fields, "components"));
            for (String uri : words(fields, "uris")) {
                for (String each : words(fields, "suites")) {
                    if (belongs(each, suite)) {
                        lines.add("deb " + options + uri + " " + each + " " + components);
                    }
                }
            }
        }
        return lines;
    }

    private static boolean belongs(String candidate, String suite) {
        return candidate.equals(suite)
                || candidate.equals(suite + "-updates")
                || candidate.equals(suite + "-security")
                || candidate.equals(suite + "/updates");
    }

    private static Map<String, String> fields(String stanza) {
        var fields = new LinkedHashMap<String, String>();
        String current = "";
        for (String line : stanza.lines().filter(l -> !l.startsWith("#")).toList()) {
            int colon = line.indexOf(':');
            if (!line.startsWith(" ") && !line.startsWith("\t") && colon > 0) {
                current = line.substring(0, colon).strip().toLowerCase(Locale.ROOT);
                fields.put(current, line.substring(colon + 1));
            } else {
                fields.merge(current, "\n" + line, String::concat);
            }
        }
        return fields;
    }

    private static List<String> words(Map<String, String> fields, String name) {
        return Stream.of(fields.getOrDefault(name, "").split("\\s+"))
                .filter(word -> !word.isEmpty())
                .toList();
    }

    private static List<Path> files(Path configuration) throws VmException {
        var files = new ArrayList<Path>();
        Path main = configuration.resolve("sources.list");
        if (Files.exists(main)) {
            files.add(main);
        }
        Path parts = configuration.resolve("sources.list.d");
        if (Files.isDirectory(parts)) {
            try (Stream<Path> all = Files.list(parts)) {
                all.filter(file -> file.toString().endsWith(".list")
                                || file.toString().endsWith(".sources"))
                        .sorted()
                        .forEach(files::add);
            } catch (IOException e) {
                throw new VmException(Code.IO, parts + " could not be listed", e);
            }
        }
        return files;
    }

    private static String read(Path file) throws VmException {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new VmException(Code.IO, file + " could not be read", e);
        }
    }
}
