package blackbox.query.brief;

import blackbox.evidence.text.Printable;
import blackbox.query.answer.ShownCommand;
import blackbox.query.brief.FileChange.Net;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// A [Brief] on one screen: at most [#LINES_MAX] lines, whatever the run did. What is left out is counted,
/// never dropped silently.
public final class BriefText {

    /// The most lines.
    public static final int LINES_MAX = 25;

    private static final int LINE_CHARS_MAX = 110;
    private static final int COMMAND_CHARS_MAX = 90;
    private static final int NOTABLES_MAX = 4;
    private static final int CONTACTS_MAX = 3;
    private static final int CHANGED_MAX = 5;
    private static final int LIMITS_MAX = 3;
    private static final String WORKSPACE = "/workspace/";

    private BriefText() {}

    /// The lines, [Printable].
    public static List<String> lines(Brief brief) {
        var lines = new ArrayList<String>();
        String command = brief.command().isEmpty()
                ? "the command is not known"
                : ShownCommand.of(brief.command(), COMMAND_CHARS_MAX);
        lines.add(Printable.of(command) + (brief.ended() == null ? "" : "   " + brief.ended()));
        section(
                lines,
                "NOTABLE",
                ofEachKind(brief.notables()).stream().map(BriefText::notable),
                brief.notables().size(),
                NOTABLES_MAX);
        section(
                lines,
                "NETWORK",
                brief.network().stream().map(BriefText::contact),
                brief.network().size(),
                CONTACTS_MAX);
        changes(lines, brief);
        add(lines, "READ", read(brief.readOutside()));
        add(lines, "PROGRAMS", programs(brief));
        section(lines, "NOT SEEN", brief.limits().stream(), brief.limits().size(), LIMITS_MAX);
        Brief.Events events = brief.events();
        add(
                lines,
                "EVENTS",
                events.agent() + " of the agent, " + events.supervisor() + " of what runs it (--supervisor), "
                        + events.host() + " of the host; all: --all");
        return lines;
    }

    /// The same with those at the front that are shown: the first of each kind among them, for many of one kind,
    /// which an agent can make, must push none of the others out.
    private static List<Notable> ofEachKind(List<Notable> notables) {
        var shown = new HashSet<Notable>();
        var kinds = EnumSet.noneOf(Notable.What.class);
        notables.stream().filter(each -> kinds.add(each.what())).forEach(shown::add);
        notables.stream()
                .filter(each -> !shown.contains(each))
                .limit(NOTABLES_MAX - shown.size())
                .toList()
                .forEach(shown::add);
        return Stream.concat(
                        notables.stream().filter(shown::contains),
                        notables.stream().filter(each -> !shown.contains(each)))
                .toList();
    }

    private static void add(List<String> lines, String title, String text) {
        String line = "%-9s %s".formatted(title, Printable.of(text));
        lines.add(line.length() <= LINE_CHARS_MAX ? line : line.substring(0, LINE_CHARS_MAX - 1) + "…");
    }

    private static void section(List<String> lines, String title, Stream<String> texts, int size, int most) {
        if (size == 0) {
            add(lines, title, "nothing");
        }
        var left = new ArrayList<>(List.of(title));
        texts.limit(most).forEach(text -> add(lines, left.isEmpty() ? "" : left.removeFirst(), text));
        if (size > most) {
            add(lines, "", "and " + (size - most) + " more (--all)");
        }
    }

    private static String notable(Notable notable) {
        String by = notable.by();
        String why = notable.why();
        return "%-9s ".formatted(notable.what().word())
                + notable.act()
                + (by == null ? "" : "  by " + by)
                + (why == null ? "" : "  " + why)
                + (notable.count() == 1 ? "" : "  ×" + notable.count());
    }

    private static String contact(Contact contact) {
        String host = contact.host();
        return contact.remote() + " " + contact.protocol() + (host == null ? "" : " " + host)
                + (contact.by().isEmpty() ? "" : "  by " + String.join(", ", contact.by()))
                + (contact.flows() == 1 ? "" : "  ×" + contact.flows())
                + (contact.failed() ? "  failed" : "  " + contact.bytesOut() + " out, " + contact.bytesIn() + " in");
    }

    private static void changes(List<String> lines, Brief brief) {
        String counts = Stream.of(Net.values())
                .filter(net -> net != Net.WRITTEN || brief.count(net) > 0)
                .map(net -> brief.count(net) + " " + net.word())
                .collect(Collectors.joining(", "));
        add(lines, "CHANGED", brief.changes().isEmpty() ? "nothing" : "files: " + counts);
        List<FileChange> single = brief.changes().stream()
                .filter(each -> each.net() != Net.TEMPORARY && BriefCollector.folder(each.path()) == null)
                .toList();
        single.stream().limit(CHANGED_MAX).forEach(each -> add(lines, "", change(each)));
        if (single.size() > CHANGED_MAX) {
            add(lines, "", "and " + (single.size() - CHANGED_MAX) + " more (--all)");
        }
        String folded = folded(brief.changes());
        if (folded != null) {
            add(lines, "", folded);
        }
    }

    private static String change(FileChange change) {
        String was = change.was();
        String by = change.by();
        return change.net().letter() + " " + shown(change.path())
                + (was == null || was.equals(change.path()) ? "" : "  renamed from " + shown(was))
                + (change.bytesWritten() == 0 ? "" : "  " + change.bytesWritten() + " B written")
                + (by == null ? "" : "  by " + by);
    }

    private static String shown(String path) {
        return path.startsWith(WORKSPACE) ? path.substring(WORKSPACE.length()) : path;
    }

    /// The files that programs keep for themselves, counted by the name of their folder; null if there are none.
    private static @Nullable String folded(List<FileChange> changes) {
        Map<String, TreeSet<String>> folders = new LinkedHashMap<>();
        Map<String, Long> files = new LinkedHashMap<>();
        for (FileChange change : changes) {
            String folder = BriefCollector.folder(change.path());
            if (folder != null) {
                String name = folder.substring(folder.lastIndexOf('/') + 1);
                folders.computeIfAbsent(name, _ -> new TreeSet<>()).add(folder);
                files.merge(name, 1L, Long::sum);
            }
        }
        return files.isEmpty()
                ? null
                : files.entrySet().stream()
                        .map(each -> each.getValue() + " paths in "
                                + folders.getOrDefault(each.getKey(), new TreeSet<>())
                                        .size() + " " + each.getKey())
                        .collect(Collectors.joining(", ", ". ", ""));
    }

    private static String read(List<String> outside) {
        return outside.isEmpty()
                ? "nothing outside the workspace and the system's programs"
                : outside.size() + " files outside the workspace and the system's programs: "
                        + String.join(", ", outside.stream().limit(20).toList());
    }

    private static String programs(Brief brief) {
        return brief.processes() + " processes: "
                + brief.programs().entrySet().stream()
                        .sorted(Map.Entry.<String, Long>comparingByValue(Comparator.reverseOrder()))
                        .limit(40)
                        .map(each -> each.getKey() + (each.getValue() == 1 ? "" : " ×" + each.getValue()))
                        .collect(Collectors.joining(", "));
    }
}
