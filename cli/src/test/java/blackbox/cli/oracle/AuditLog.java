package blackbox.cli.oracle;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// What the kernel's audit subsystem told `auditor.py`, as calls that each must have made an event. Text is ISO
/// 8859-1: one character for each octet.
final class AuditLog {

    /// A system call.
    ///
    /// @param kind of the event
    /// @param pid of the process; of a fork, the child's
    /// @param result 0 or a negated errno
    /// @param names what it was about, as the event may have it: empty where the log has no name; `*` stands
    ///     for a folder, or for a name in a folder, that the log does not have
    record Call(String kind, int pid, long result, Set<String> names) {

        /// Whether an event's name is one of these.
        boolean isAbout(String name) {
            String bare = name.replaceFirst("/+$", "");
            String folder = bare.substring(0, Math.max(0, bare.lastIndexOf('/')));
            return names.isEmpty()
                    || names.contains(name)
                    || names.contains(folder + "/*")
                    || names.stream().anyMatch(each -> each.startsWith("*") && name.endsWith(each.substring(1)))
                    || !bare.contains("/") && names.stream().anyMatch(each -> each.endsWith("/*"));
        }
    }

    private static final int SYSCALL = 1300;
    private static final int PATH = 1302;
    private static final int SOCKADDR = 1306;
    private static final int CWD = 1307;
    private static final int EXECVE = 1309;
    /// How the kernel says to itself that a call is to be made once more.
    private static final int ERESTARTSYS = -512;

    private static final int ENOENT = -2;
    private static final String AT_REMOVEDIR = "200";
    private static final long CLONE_THREAD = 0x10000;
    private static final String AT_FDCWD = "ffffff9c";
    private static final Pattern LINE = Pattern.compile("(\\d+) audit\\(\\d+\\.\\d+:(\\d+)\\): (.*)");
    private static final Pattern FIELD = Pattern.compile("(\\S+?)=(\"[^\"]*\"|\\S*)");
    private static final Pattern ARGUMENT = Pattern.compile("a(\\d+)(?:\\[\\d+])?");
    private static final List<String> IDS = List.of("uid", "gid", "euid", "suid", "fsuid", "egid", "sgid", "fsgid");

    /// The records of one call: its own, and those that go with it, in order.
    private static final class Group {
        final Map<String, String> call;
        final List<Map<String, String>> paths = new ArrayList<>();
        final Map<Integer, String> argv = new TreeMap<>();

        @Nullable
        String cwd;

        @Nullable
        String address;

        Group(Map<String, String> call) {
            this.call = call;
        }

        int number(String field) {
            return Integer.parseInt(call.getOrDefault(field, "0"));
        }
    }

    private final Links links;
    private final Map<String, Group> groups = new LinkedHashMap<>();
    private final Map<Integer, String> ids = new HashMap<>();

    private AuditLog(Links links) {
        this.links = links;
    }

    /// @param lines as `auditor.py` wrote them, without the first
    /// @param links of the guest
    static List<Call> parse(List<String> lines, Links links) {
        var log = new AuditLog(links);
        lines.forEach(log::line);
        var calls = new ArrayList<Call>();
        log.groups.values().forEach(group -> log.calls(group, calls));
        return calls;
    }

    private void line(String line) {
        Matcher record = LINE.matcher(line);
        if (!record.matches()) {
            throw new IllegalArgumentException("no audit record: " + line);
        }
        var fields = new HashMap<String, String>();
        Matcher field = FIELD.matcher(record.group(3));
        while (field.find()) {
            fields.put(field.group(1), field.group(2));
        }
        if (Integer.parseInt(record.group(1)) == SYSCALL) {
            groups.put(record.group(2), new Group(fields));
            return;
        }
        Group group = groups.get(record.group(2));
        if (group == null) {
            return; // of no system call, such as a change of the rules
        }
        switch (Integer.parseInt(record.group(1))) {
            case PATH -> group.paths.add(fields);
            case CWD -> group.cwd = text(fields.get("cwd"));
            case SOCKADDR -> group.address = address(fields.getOrDefault("saddr", ""));
            case EXECVE -> arguments(record.group(3), group);
            default -> {}
        }
    }

    /// Long arguments come in parts, and many of them in several records.
    private static void arguments(String record, Group group) {
        Matcher field = FIELD.matcher(record);
        while (field.find()) {
            Matcher argument = ARGUMENT.matcher(field.group(1));
            if (argument.matches()) {
                group.argv.merge(Integer.valueOf(argument.group(1)), text(field.group(2)), String::concat);
            }
        }
    }

    private void calls(Group group, List<Call> calls) {
        int pid = group.number("pid");
        int number = group.number("syscall");
        String code = group.call.get("exit");
        changedIds(group, pid, calls);
        if (number == 231) {
            String status = Long.toString(Long.parseLong(group.call.getOrDefault("a0", "0"), 16) & 0xff);
            calls.add(new Call("process.exit", pid, 0, Set.of(status)));
        } else if (code != null && Long.parseLong(code) > ERESTARTSYS) {
            long result = Math.min(0, Long.parseLong(code));
            switch (number) {
                case 56, 57, 58, 435 -> fork(group, number, Integer.parseInt(code), calls);
                case 59, 322 -> calls.add(new Call("process.exec", pid, result, executed(group, number, result)));
                case 42, 49 -> socket(group, number, result, calls);
                case 105 -> refused("setuid", pid, result, calls);
                case 106 -> refused("setgid", pid, result, calls);
                case 113 -> refused("setreuid", pid, result, calls);
                case 114 -> refused("setregid", pid, result, calls);
                case 117 -> refused("setresuid", pid, result, calls);
                case 119 -> refused("setresgid", pid, result, calls);
                default -> file(group, number, result, calls);
            }
        }
    }

    private Set<String> executed(Group group, int number, long result) {
        return result == 0 ? Set.of(String.join("\0", group.argv.values())) : names(group, number == 322 ? "a0" : "");
    }

    /// Threads are told by the flags of clone(2); those of clone3(2) are in memory, so there a child is a
    /// process if it is one elsewhere in the log.
    private void fork(Group group, int number, int child, List<Call> calls) {
        boolean isThread = number == 56 && (Long.parseLong(group.call.getOrDefault("a0", "0"), 16) & CLONE_THREAD) != 0;
        boolean isSeen = groups.values().stream().anyMatch(each -> each.number("pid") == child);
        if (child > 0 && !isThread && (number != 435 || isSeen)) {
            calls.add(new Call("process.fork", child, 0, Set.of()));
        }
        ids.put(child, idsOf(group));
    }

    /// The record has the ids after the call. A child may have got on with its work before its parent's fork is told:
    /// then its ids were its parent's.
    private void changedIds(Group group, int pid, List<Call> calls) {
        String now = idsOf(group);
        String known = ids.put(pid, now);
        String before = known == null ? ids.get(group.number("ppid")) : known;
        if (before != null && !before.equals(now)) {
            calls.add(new Call("cred.change", pid, 0, Set.of()));
        }
    }

    private static String idsOf(Group group) {
        var text = new StringBuilder();
        IDS.forEach(id -> text.append(group.call.get(id)).append(' '));
        return text.toString();
    }

    private static void refused(String what, int pid, long result, List<Call> calls) {
        if (result < 0) {
            calls.add(new Call("privilege.use", pid, result, Set.of(what)));
        }
    }

    /// Binding to a port is told by what comes after (docs/COVERAGE.md), binding to a name makes a file.
    private void socket(Group group, int number, long result, List<Call> calls) {
        int pid = group.number("pid");
        String address = group.address;
        if (number == 42) {
            calls.add(new Call("net.connect", pid, result, address == null ? Set.of() : Set.of(address)));
        } else if (address != null && !address.contains(" ")) {
            calls.add(new Call("file.mknod", pid, result, links.namesOf(address, group.cwd, pid)));
        }
    }

    private void file(Group group, int number, long result, List<Call> calls) {
        String kind = switch (number) {
            case 2, 85, 257, 437 -> "file.open";
            case 76, 77 -> "file.truncate";
            case 82, 264, 316 -> "file.rename";
            case 83, 258 -> "file.mkdir";
            case 84 -> "file.rmdir";
            case 86, 265 -> "file.link";
            case 87 -> "file.unlink";
            case 263 -> group.call.getOrDefault("a2", "0").equals(AT_REMOVEDIR) ? "file.rmdir" : "file.unlink";
            case 88, 266 -> "file.symlink";
            case 90, 91, 268 -> "file.chmod";
            case 92, 93, 94, 260 -> "file.chown";
            case 132, 235, 261, 280 -> "file.utime";
            case 133, 259 -> "file.mknod";
            default -> ""; // none that was asked for: the kernel adds some to records of another kind
        };
        String folder = switch (number) {
            case 257, 258, 259, 260, 261, 263, 264, 265, 268, 280, 316, 437 -> "a0";
            case 266 -> "a1";
            default -> "";
        };
        // What changes a file that is not found makes no event (docs/COVERAGE.md).
        boolean isUnseen = result == ENOENT
                && Set.of("file.truncate", "file.chmod", "file.chown", "file.utime")
                        .contains(kind);
        if (!isUnseen && !kind.isEmpty()) {
            calls.add(new Call(kind, group.number("pid"), result, names(group, folder)));
        }
    }

    /// The files of a call, but for the folders in which they are.
    ///
    /// @param folder the argument that says where relative names begin; empty where it is the working directory
    private Set<String> names(Group group, String folder) {
        String base = group.call.getOrDefault(folder, AT_FDCWD).endsWith(AT_FDCWD) ? group.cwd : null;
        int pid = group.number("pid");
        var all = new HashSet<String>();
        boolean onlyFolders = group.paths.stream().allMatch(AuditLog::isFolder);
        for (Map<String, String> path : group.paths) {
            String name = path.getOrDefault("name", "(null)");
            if (name.equals("(null)")) {
                continue;
            }
            if (onlyFolders) {
                links.namesOf(text(name), base, pid).forEach(each -> all.add(each.replaceFirst("/*$", "/*")));
            } else if (!isFolder(path)) {
                all.addAll(links.namesOf(text(name), base, pid));
            }
        }
        return all;
    }

    private static boolean isFolder(Map<String, String> path) {
        return "PARENT".equals(path.get("nametype"));
    }

    /// A value that nobody may mistake for another: in quotes, or in hexadecimal if it has any of its own.
    private static String text(@Nullable String value) {
        if (value == null) {
            return "";
        }
        if (value.startsWith("\"")) {
            return value.substring(1, value.length() - 1);
        }
        return new String(HexFormat.of().parseHex(value), StandardCharsets.ISO_8859_1);
    }

    /// A socket's address as [Deeds] has it, or null if it has none.
    private static @Nullable String address(String hex) {
        byte[] octets = HexFormat.of().parseHex(hex);
        if (octets.length < 2) {
            return null;
        }
        try {
            return switch (octets[0]) {
                case 1 -> unix(octets);
                case 2 -> ip(octets, 4, 4) + " " + port(octets);
                case 10 -> ip(octets, 8, 16) + " " + port(octets);
                default -> null;
            };
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("no address: " + hex, e);
        }
    }

    private static String unix(byte[] octets) {
        int end = 2;
        while (end < octets.length && octets[end] != 0) {
            end++;
        }
        return new String(octets, 2, end - 2, StandardCharsets.ISO_8859_1);
    }

    private static String ip(byte[] octets, int from, int length) throws UnknownHostException {
        return InetAddress.getByAddress(Arrays.copyOfRange(octets, from, from + length))
                .getHostAddress();
    }

    private static int port(byte[] octets) {
        return (octets[2] & 0xff) << 8 | octets[3] & 0xff;
    }
}
