package blackbox.vm.image;

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

/// Which of the machine's own package sources serve a suite: both of apt's forms (sources.list(5)), reduced to binary
/// packages of that suite, its updates and its security archive. Other suites and vendors never get into an image.
final class AptSources {
    private AptSources() {}

    /// The sources as text in apt's one-line form.
    ///
    /// @param configuration the machine's `/etc/apt`
    /// @param mirror to use instead of the machine's sources, or null
    /// @throws VmException `MIRROR` when the machine has no source of this suite
    static String of(Path configuration, String suite, @Nullable String mirror) throws VmException {
        if (mirror != null) {
            return "deb " + mirror + " " + suite + " main\n";
        }
        var lines = new ArrayList<String>();
        for (Path file : files(configuration)) {
            String text = read(file);
            lines.addAll(file.toString().endsWith(".sources") ? stanzas(text, suite) : oneLine(text, suite));
        }
        if (lines.isEmpty()) {
            throw new VmException(
                    Code.MIRROR,
                    "this machine's apt has no source for Debian's '" + suite
                            + "'; add one, or name a mirror with --mirror URL");
        }
        return String.join("\n", lines) + "\n";
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
