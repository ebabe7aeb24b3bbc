package blackbox.cli.oracle;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// What `strace -f -y -xx` wrote (all strings in hexadecimal, so that none contains a quote), as deeds: a kind, the
/// thread, and the object. Only calls that succeeded, and only opens for writing.
final class StraceLog {

    /// Something that was done. Text is ISO 8859-1: one character for each octet.
    record Deed(String kind, int tid, String what) {}

    private static final Pattern LINE = Pattern.compile("(\\d+) +(\\w+)\\((.*)\\) += (-?\\d+|\\?)(.*)");
    private static final Pattern UNFINISHED = Pattern.compile("(\\d+) +(\\w+)\\((.*) <unfinished \\.\\.\\.>");
    private static final Pattern RESUMED = Pattern.compile("(\\d+) +<\\.\\.\\. (\\w+) resumed>(.*)");
    private static final Pattern STRING = Pattern.compile("\"([^\"]*+)\"");
    private static final Pattern DIRECTORY = Pattern.compile("(?:AT_FDCWD|\\d+)<([^>]*)>$");
    private static final Pattern INET =
            Pattern.compile("sin_port=htons\\((\\d+)\\), sin_addr=inet_addr\\(\"([^\"]*)\"\\)");
    private static final Pattern UNIX = Pattern.compile("sun_path=\"([^\"]*+)\"");

    private final Map<Integer, String> unfinished = new HashMap<>();
    private final List<Deed> deeds = new ArrayList<>();

    private final String cwd;

    private StraceLog(String cwd) {
        this.cwd = cwd;
    }

    /// @param cwd where relative names begin in calls that take no directory, such as rename(2)
    static List<Deed> parse(List<String> lines, String cwd) {
        var log = new StraceLog(cwd);
        lines.forEach(log::line);
        return log.deeds;
    }

    private void line(String line) {
        Matcher cut = UNFINISHED.matcher(line);
        if (cut.matches()) {
            unfinished.put(Integer.valueOf(cut.group(1)), cut.group(2) + "(" + cut.group(3));
            return;
        }
        Matcher resumed = RESUMED.matcher(line);
        String begun = resumed.matches() ? unfinished.remove(Integer.valueOf(resumed.group(1))) : null;
        String whole = begun == null ? line : resumed.group(1) + " " + begun + resumed.group(3);
        Matcher call = LINE.matcher(whole);
        if (call.matches()) {
            call(Integer.parseInt(call.group(1)), call.group(2), call.group(3), call.group(4), call.group(5));
        }
    }

    private void call(int tid, String name, String arguments, String result, String more) {
        boolean done = !result.startsWith("-") && !result.equals("?");
        if (name.equals("connect") && (done || more.contains("EINPROGRESS"))) {
            add("connect", tid, peer(arguments));
        }
        if (!done) {
            return;
        }
        List<String> paths = paths(arguments);
        switch (name) {
            case "execve", "execveat" -> add("exec", tid, argv(arguments));
            case "open", "openat", "openat2", "creat" -> {
                if (name.equals("creat") || arguments.matches(".*O_(WRONLY|RDWR|CREAT|TRUNC).*")) {
                    add("open", tid, unescaped(more.substring(more.indexOf('<') + 1, more.lastIndexOf('>'))));
                }
            }
            case "rename", "renameat", "renameat2" -> add("rename", tid, paths.get(0) + "\0" + paths.get(1));
            case "unlink" -> add("unlink", tid, paths.getFirst());
            case "unlinkat" -> add(arguments.contains("AT_REMOVEDIR") ? "rmdir" : "unlink", tid, paths.getFirst());
            case "rmdir" -> add("rmdir", tid, paths.getFirst());
            default -> {}
        }
    }

    private void add(String kind, int tid, @Nullable String what) {
        if (what != null) {
            deeds.add(new Deed(kind, tid, what));
        }
    }

    private static String argv(String arguments) {
        int from = arguments.indexOf('[');
        int to = arguments.lastIndexOf(']');
        Matcher string = STRING.matcher(arguments.substring(from, to));
        var argv = new ArrayList<String>();
        while (string.find()) {
            argv.add(unescaped(string.group(1)));
        }
        return String.join("\0", argv);
    }

    /// The paths among the arguments; a relative one behind its directory, which strace names for a descriptor.
    private List<String> paths(String arguments) {
        var paths = new ArrayList<String>();
        Matcher string = STRING.matcher(arguments);
        int behind = 0;
        while (string.find()) {
            String path = unescaped(string.group(1));
            String before = arguments.substring(behind, string.start()).replaceAll(", *$", "");
            Matcher directory = DIRECTORY.matcher(before);
            String begin = directory.find() ? unescaped(directory.group(1)) : cwd;
            paths.add(path.startsWith("/") ? path : begin + "/" + path);
            behind = string.end();
        }
        return paths;
    }

    private static @Nullable String peer(String arguments) {
        Matcher inet = INET.matcher(arguments);
        if (inet.find()) {
            return unescaped(inet.group(2)) + " " + inet.group(1);
        }
        Matcher unix = UNIX.matcher(arguments);
        return unix.find() ? unescaped(unix.group(1)) : null;
    }

    /// Undoes strace's escapes: `\xNN`, C's letters, and octal.
    static String unescaped(String text) {
        var octets = new ByteArrayOutputStream();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c != '\\') {
                octets.write(c);
                continue;
            }
            char next = text.charAt(++i);
            if (next == 'x') {
                octets.write(Integer.parseInt(text.substring(i + 1, i + 3), 16));
                i += 2;
            } else if (next >= '0' && next <= '7') {
                int end = i + 1;
                while (end < text.length() && end < i + 3 && text.charAt(end) >= '0' && text.charAt(end) <= '7') {
                    end++;
                }
                octets.write(Integer.parseInt(text.substring(i, end), 8));
                i = end - 1;
            } else {
                int letter = "ntrvf".indexOf(next);
                octets.write(letter < 0 ? next : "\n\t\r\u000b\f".charAt(letter));
            }
        }
        return octets.toString(StandardCharsets.ISO_8859_1);
    }
}
