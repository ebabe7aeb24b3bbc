package blackbox.query.why;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.NullNode;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/// What the arguments of a tool ask for, by the names that the tools of coding agents give them.
///
/// @param commands texts for a shell, [plain][Harness#plain]
/// @param argvs programs with their arguments; of a command for which no shell is needed, that command's
///     words
/// @param paths of files, as they were given
/// @param contentBytes how long the content is that a file is to have, or null if that is not said
/// @param hosts of URLs, in lower case
/// @param cut whether a part of the arguments is missing
record Wanted(
        List<String> commands,
        List<List<String>> argvs,
        List<String> paths,
        @Nullable Long contentBytes,
        Set<String> hosts,
        boolean cut) {

    private static final Set<String> COMMANDS =
            Set.of("command", "cmd", "commands", "script", "code", "argv", "bash", "shell_command", "input", "patch");
    private static final Set<String> PATHS = Set.of(
            "path",
            "paths",
            "file",
            "filename",
            "file_path",
            "filepath",
            "absolute_path",
            "abs_path",
            "target_file",
            "notebook_path",
            "dir_path",
            "directory");
    private static final Set<String> URLS = Set.of("url", "urls", "uri");
    private static final Set<String> CONTENTS = Set.of("content", "contents", "file_text");
    private static final Pattern PATCHED =
            Pattern.compile("^\\*\\*\\* (?:(?:Add|Update|Delete) File|Move to): (.+)$", Pattern.MULTILINE);

    /// What may have been open where JSON was cut.
    private static final List<String> ENDS = List.of("", "}", "\"}", "]}", "\"]}", "}}", "\"}}", "}]}", "\"}]}");

    /// A longer command is compared as a text only.
    private static final int SIMPLE_CHARS_MAX = 4096;

    private static final int DEPTH_MAX = 4;
    private static final int VALUES_MAX = 64;

    /// Of less than this, a beginning says nothing.
    private static final int BEGINNING_CHARS_MIN = 16;

    private static final ObjectMapper JSON = new ObjectMapper();

    Wanted {
        commands = List.copyOf(commands);
        argvs = List.copyOf(argvs);
        paths = List.copyOf(paths);
        hosts = Set.copyOf(hosts);
    }

    /// How far something agrees with it.
    enum Fit {
        EXACT,
        /// Something else would fit as well, or a part could not be compared.
        CLOSE,
        NONE
    }

    /// Nothing that could be compared.
    static Wanted nothing(boolean cut) {
        return new Wanted(List.of(), List.of(), List.of(), null, Set.of(), cut);
    }

    /// @param arguments JSON, or a text
    static Wanted of(@Nullable String arguments, boolean cut) {
        if (arguments == null) {
            return nothing(cut);
        }
        var reader = new Reader();
        JsonNode json = json(arguments, cut);
        if (json.isContainerNode()) {
            reader.read("", json, 0);
        } else if (json.isTextual()) {
            reader.command(json.asText());
        } else {
            reader.command(arguments);
        }
        return new Wanted(
                reader.commands, reader.argvs, new ArrayList<>(reader.paths), reader.contentBytes, reader.hosts, cut);
    }

    /// Octets or characters that it keeps in memory, roughly.
    long size() {
        return commands.stream().mapToLong(String::length).sum()
                + paths.stream().mapToLong(String::length).sum()
                + argvs.stream().flatMap(List::stream).mapToLong(String::length).sum();
    }

    /// Whether it is about files or URLs and not about programs.
    boolean isWithoutPrograms() {
        return commands.isEmpty() && argvs.isEmpty() && !(paths.isEmpty() && hosts.isEmpty());
    }

    /// How far a program's start is what was asked for.
    ///
    /// @param argv all that was read of its arguments
    /// @param argvCut whether that is not all
    Fit program(List<String> argv, List<String> unwrapped, boolean argvCut) {
        for (List<String> each : argvs) {
            int at = argv.size() - each.size();
            boolean ends = at == 0 || at > 0 && argv.get(at - 1).equals("--");
            if (ends && argv.subList(at, argv.size()).equals(each)) {
                return fit(argvCut);
            }
        }
        Fit best = Fit.NONE;
        for (String command : commands) {
            if (unwrapped.contains(command)) {
                return fit(argvCut);
            }
            boolean begins = unwrapped.stream()
                    .anyMatch(each -> cut && isBeginning(command, each) || argvCut && isBeginning(each, command));
            best = begins ? Fit.CLOSE : best;
        }
        return best;
    }

    private Fit fit(boolean argvCut) {
        return cut || argvCut ? Fit.CLOSE : Fit.EXACT;
    }

    private static boolean isBeginning(String beginning, String whole) {
        return beginning.length() >= BEGINNING_CHARS_MIN && whole.startsWith(beginning);
    }

    private static JsonNode json(String text, boolean cut) {
        for (String end : cut ? ENDS : ENDS.subList(0, 1)) {
            try {
                JsonNode json = JSON.readTree(text + end);
                if (json.isContainerNode() || json.isTextual()) {
                    return json;
                }
            } catch (JsonProcessingException e) {
                // Then it ends otherwise, or is a text.
            }
        }
        return NullNode.getInstance();
    }

    private static final class Reader {
        final List<String> commands = new ArrayList<>();
        final List<List<String>> argvs = new ArrayList<>();
        final Set<String> paths = new LinkedHashSet<>();
        final Set<String> hosts = new LinkedHashSet<>();

        @Nullable
        Long contentBytes;

        private int values;

        void read(String name, JsonNode value, int depth) {
            if (values++ >= VALUES_MAX) {
                return;
            }
            if (value.isTextual()) {
                text(name.toLowerCase(Locale.ROOT), value.asText());
            } else if (depth < DEPTH_MAX && value.isArray()) {
                if (COMMANDS.contains(name) && !value.isEmpty()) {
                    argv(value);
                }
                value.forEach(each -> read(each.isTextual() && COMMANDS.contains(name) ? "" : name, each, depth + 1));
            } else if (depth < DEPTH_MAX) {
                value.properties().forEach(each -> read(each.getKey(), each.getValue(), depth + 1));
            }
        }

        private void argv(JsonNode words) {
            List<String> argv = StreamSupport.stream(words.spliterator(), false)
                    .filter(JsonNode::isTextual)
                    .map(JsonNode::asText)
                    .toList();
            argvs.add(argv);
            commands.addAll(Harness.commands(argv));
            argv.forEach(this::patched);
        }

        private void text(String name, String value) {
            if (COMMANDS.contains(name)) {
                command(value);
            } else if (PATHS.contains(name) && !value.isBlank()) {
                paths.add(value);
            } else if (URLS.contains(name)) {
                host(value);
            } else if (CONTENTS.contains(name)) {
                contentBytes = (long) value.getBytes(StandardCharsets.UTF_8).length;
            }
        }

        void command(String value) {
            String plain = Harness.plain(value);
            if (!plain.isEmpty()) {
                commands.add(plain);
                List<String> words = plain.length() > SIMPLE_CHARS_MAX ? null : ShellWords.simple(plain);
                if (words != null) {
                    argvs.add(words);
                }
                patched(value);
            }
        }

        /// The files that a patch names.
        private void patched(String text) {
            Matcher names = PATCHED.matcher(text);
            while (names.find() && paths.size() < VALUES_MAX) {
                paths.add(names.group(1).strip());
            }
        }

        private void host(String url) {
            try {
                String host = URI.create(url).getHost();
                if (host != null) {
                    hosts.add(host.toLowerCase(Locale.ROOT));
                }
            } catch (IllegalArgumentException e) {
                // Then it names no host that could be compared.
            }
        }
    }
}
