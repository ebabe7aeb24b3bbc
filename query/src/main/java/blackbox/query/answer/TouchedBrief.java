package blackbox.query.answer;

import blackbox.schemas.row.Text;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// [Touched] on one screen: what is asked first, the most telling of each, and how much there is besides. At most
/// [#LINES_MAX] lines, whatever the run did. What is left out is counted, never dropped without a word.
public final class TouchedBrief {
    /// No brief is longer.
    public static final int LINES_MAX = 25;

    private static final int LINE_CHARS_MAX = 110;
    private static final int FLOWS_MAX = 3;
    private static final int REFUSED_MAX = 2;
    private static final int CHANGED_MAX = 6;
    private static final int LIMITS_MAX = 3;
    private static final String WORKSPACE = "/workspace/";
    private static final List<String> PSEUDO = List.of("/proc/", "/sys/", "/dev/");

    private TouchedBrief() {}

    /// Prints it.
    public static void print(PrintWriter out, Touched touched) {
        lines(touched).forEach(out::println);
    }

    /// The first lines of a brief, for a report that has more to say.
    public static List<String> headlines(Touched touched, int most) {
        return lines(touched).stream().limit(most).toList();
    }

    static List<String> lines(Touched touched) {
        var lines = new ArrayList<String>();
        lines.add(cut("Programs (" + touched.processes().size() + "): " + programs(touched.processes())));
        List<Touched.Flow> flows = touched.egress();
        section(lines, "Network", flows.stream().map(TouchedBrief::flow).toList(), FLOWS_MAX);
        List<Touched.PrivilegeUse> refused = touched.privileges().stream()
                .filter(Touched.PrivilegeUse::refused)
                .toList();
        section(lines, "Refused", refused.stream().map(TouchedBrief::refused).toList(), REFUSED_MAX);
        List<String> changed = touched.files().stream()
                .filter(TouchedBrief::isChanged)
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

    private static String refused(Touched.PrivilegeUse use) {
        String subject = use.subject();
        String comm = use.comm();
        return use.what() + (subject == null ? "" : " " + subject) + "  by " + (comm == null ? "?" : comm)
                + (use.count() == 1 ? "" : ", " + use.count() + " times");
    }

    private static boolean isChanged(Touched.FileUse file) {
        Touched.FileDeeds deeds = file.deeds();
        return (deeds.written() || deeds.created() || deeds.deleted() || deeds.attributes() || deeds.mapped())
                && !isPseudo(file);
    }

    /// What lies outside the workspace is the most telling, what a version control system keeps for itself the least.
    private static int rank(Touched.FileUse file) {
        String path = file.path().toString();
        if (!path.startsWith(WORKSPACE)) {
            return path.startsWith("/tmp/") ? 1 : 0;
        }
        return path.contains("/.git/") ? 3 : 2;
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

    private static boolean isPseudo(Touched.FileUse file) {
        return PSEUDO.stream().anyMatch(file.path().toString()::startsWith);
    }

    private static String cut(String line) {
        return line.length() <= LINE_CHARS_MAX ? line : line.substring(0, LINE_CHARS_MAX - 1) + "…";
    }
}
