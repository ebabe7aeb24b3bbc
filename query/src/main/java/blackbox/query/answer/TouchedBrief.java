package blackbox.query.answer;

import blackbox.evidence.text.Printable;
import blackbox.schemas.row.Text;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// [Touched] on one screen: what is asked first, the most important of each, and how much more there is. At
/// most [#LINES_MAX] lines, whatever the run did. What is left out is counted, never dropped silently.
public final class TouchedBrief {
    /// The most lines of a brief.
    public static final int LINES_MAX = 25;

    private static final int LINE_CHARS_MAX = 110;
    private static final int FLOWS_MAX = 3;
    private static final int PRIVILEGES_MAX = 2;
    private static final int CHANGED_MAX = 6;
    private static final int LIMITS_MAX = 3;
    private static final String WORKSPACE = "/workspace/";
    private static final List<String> KERNEL = List.of("/proc/", "/sys/", "/dev/");
    private static final Set<String> HARMLESS = Set.of("/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx");

    private TouchedBrief() {}

    /// Prints it.
    public static void print(PrintWriter out, Touched touched) {
        lines(touched).forEach(out::println);
    }

    /// The first lines of a brief, for a report that contains more.
    public static List<String> headlines(Touched touched, int most) {
        return lines(touched).stream().limit(most).toList();
    }

    static List<String> lines(Touched touched) {
        var lines = new ArrayList<String>();
        lines.add(cut("Programs (" + touched.processes().size() + "): " + programs(touched.processes())));
        List<Touched.Flow> flows = touched.egress();
        section(lines, "Network", flows.stream().map(TouchedBrief::flow).toList(), FLOWS_MAX);
        section(lines, "Privileges", privileges(touched.privileges()), PRIVILEGES_MAX);
        List<String> changed = touched.files().stream()
                .filter(TouchedBrief::isChanged)
                .filter(file -> !isHarmless(file))
                .sorted(Comparator.comparingInt(TouchedBrief::rank))
                .map(TouchedBrief::changed)
                .toList();
        section(lines, "Files changed", changed, CHANGED_MAX);
        lines.add(read(touched.files()));
        section(lines, "What may not have been seen", touched.limits(), LIMITS_MAX);
        return lines;
    }

    private static void section(List<String> lines, String title, List<String> all, int most) {
        lines.add(title + (all.isEmpty() ? ": none" : " (" + all.size() + ")"));
        all.stream().limit(most).forEach(each -> lines.add(cut("  " + Printable.of(each))));
        if (all.size() > most) {
            lines.add("  and " + (all.size() - most) + " more (--all)");
        }
    }

    /// Names of programs, the most frequent first.
    private static String programs(List<Touched.ProgramRun> processes) {
        Map<String, Long> counts = processes.stream()
                .map(each -> lastName(each.exe()))
                .collect(Collectors.groupingBy(name -> name, LinkedHashMap::new, Collectors.counting()));
        return counts.entrySet().stream()
                .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
                .map(each -> Printable.of(each.getKey()) + (each.getValue() == 1 ? "" : " ×" + each.getValue()))
                .collect(Collectors.joining(", "));
    }

    private static String lastName(@Nullable Text exe) {
        String path = exe == null ? "?" : exe.toString();
        return path.substring(path.lastIndexOf('/') + 1);
    }

    private static String flow(Touched.Flow flow) {
        String host = flow.host();
        Integer port = flow.remotePort();
        return flow.protocol() + " " + flow.remoteIp() + (port == null ? "" : ":" + port)
                + (host == null ? "" : " (" + host + ")")
                + "  " + flow.bytesOut() + " octets out, " + flow.bytesIn() + " in"
                + (flow.failedWith() == null ? "" : "  failed");
    }

    /// What was refused comes first.
    private static List<String> privileges(List<Touched.PrivilegeUse> uses) {
        return uses.stream()
                .sorted(Comparator.comparing(Touched.PrivilegeUse::refused).reversed())
                .map(TouchedBrief::privilege)
                .toList();
    }

    private static String privilege(Touched.PrivilegeUse use) {
        String subject = use.subject();
        String comm = use.comm();
        return (use.refused() ? "refused: " : "used: ") + use.what() + (subject == null ? "" : " " + subject) + "  by "
                + (comm == null ? "?" : comm) + (use.count() == 1 ? "" : ", " + use.count() + " times");
    }

    private static boolean isChanged(Touched.FileUse file) {
        Touched.FileDeeds deeds = file.deeds();
        return deeds.written() || deeds.created() || deeds.deleted() || deeds.attributes() || deeds.mapped();
    }

    /// Files that every program writes to, and that writing does not change.
    private static boolean isHarmless(Touched.FileUse file) {
        String path = file.path().toString();
        return HARMLESS.contains(path) || path.startsWith("/dev/pts/");
    }

    /// The kernel's own files are the most important, then those outside the workspace; a version control
    /// system's own files are the least.
    private static int rank(Touched.FileUse file) {
        String path = file.path().toString();
        if (KERNEL.stream().anyMatch(path::startsWith)) {
            return 0;
        }
        if (!path.startsWith(WORKSPACE)) {
            return path.startsWith("/tmp/") ? 2 : 1;
        }
        return path.contains("/.git/") ? 4 : 3;
    }

    private static String changed(Touched.FileUse file) {
        Touched.FileDeeds deeds = file.deeds();
        var words = new ArrayList<String>();
        add(words, deeds.created(), "created");
        add(words, deeds.written() || deeds.mapped(), "written");
        add(words, deeds.attributes(), "attributes");
        Text to = file.renamedTo();
        if (to != null) {
            words.add("renamed to " + to);
        } else {
            add(words, deeds.deleted(), "deleted");
        }
        return file.path() + "  " + String.join(", ", words);
    }

    private static void add(List<String> words, boolean holds, String word) {
        if (holds) {
            words.add(word);
        }
    }

    private static String read(List<Touched.FileUse> files) {
        List<Touched.FileUse> read =
                files.stream().filter(each -> each.deeds().read()).toList();
        long outside = read.stream()
                .map(each -> each.path().toString())
                .filter(path -> !path.startsWith(WORKSPACE) && !path.startsWith("/usr/") && !path.startsWith("/lib"))
                .count();
        return "Files read (" + read.size() + "): " + outside + " of them outside the workspace, /usr and /lib";
    }

    private static String cut(String line) {
        return line.length() <= LINE_CHARS_MAX ? line : line.substring(0, LINE_CHARS_MAX - 1) + "…";
    }
}
