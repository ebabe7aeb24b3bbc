package blackbox.query.why;

import blackbox.evidence.text.Printable;
import blackbox.schemas.view.FileEffect;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// [Caused] as text for people; a line begins with an event's index and the grade.
public final class CausedText {

    private static final int LISTED_MAX = 30;

    private CausedText() {}

    /// Prints it.
    public static void print(PrintWriter out, Caused caused) {
        if (caused.tools().isEmpty()) {
            out.println("the answer to call " + Printable.of(caused.call()) + " asked for no tool");
        }
        for (Caused.OfTool tool : caused.tools()) {
            Caused.Used used = tool.used();
            out.printf(
                    "%8d  %s  %s%s%n",
                    used.index(),
                    grade(tool.grade()),
                    Printable.of(used.what()),
                    used.id() == null ? "" : "  (" + Printable.of(used.id()) + ")");
            list(out, "programs", tool.effects().execs(), each -> line(each.index(), each.grade(), each.what()));
            list(out, "files", tool.effects().files(), CausedText::file);
            list(out, "peers", tool.effects().connects(), CausedText::peer);
            list(out, "privileges", tool.effects().privileges(), each -> line(each.index(), each.grade(), each.what()));
            list(out, "MCP calls", tool.effects().mcpCalls(), each -> line(each.index(), each.grade(), each.what()));
            tool.notes().forEach(note -> out.println("          note: " + Printable.of(note)));
            if (tool.effects().leftOff() > 0) {
                out.println("          " + tool.effects().leftOff() + " more are not listed");
            }
        }
        if (caused.untiedCount() > 0) {
            out.println("started by the runtime while no tool was being used (" + caused.untiedCount() + ")");
            caused.untied().stream()
                    .limit(LISTED_MAX)
                    .forEach(each -> out.println(Printable.of(line(each.index(), Grade.X, each.what()))));
        }
        caused.limits().forEach(limit -> out.println("limit: " + Printable.of(limit)));
    }

    private static <T> void list(PrintWriter out, String name, List<T> all, Function<T, String> line) {
        all.stream().limit(LISTED_MAX).forEach(each -> out.println(Printable.of(line.apply(each))));
        if (all.size() > LISTED_MAX) {
            out.println("          " + (all.size() - LISTED_MAX) + " more " + name + "; --json has them");
        }
    }

    private static String grade(@Nullable Grade grade) {
        return grade == null ? "-" : grade.name();
    }

    private static String line(long index, @Nullable Grade grade, String what) {
        return "%8d    %s  %s".formatted(index, grade(grade), what);
    }

    private static String file(Caused.File file) {
        return line(file.index(), file.grade(), file.path() + "  " + words(file.effects()));
    }

    private static String words(Set<FileEffect> effects) {
        return effects.stream()
                .filter(each -> each != FileEffect.OPENS || effects.size() == 1)
                .sorted()
                .map(each -> each.name().toLowerCase(Locale.ROOT))
                .collect(Collectors.joining(", "));
    }

    private static String peer(Caused.Peer peer) {
        String names = peer.names().isEmpty() ? "" : " (" + String.join(", ", peer.names()) + ")";
        return line(peer.index(), peer.grade(), peer.protocol() + " " + peer.address() + names);
    }
}
