package blackbox.cli.oracle;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The symbolic links of a guest, to find out which file a path led to.
final class Links {

    private static final int FOLLOWED_MAX = 40;

    private final Map<String, String> targets = new HashMap<>();

    /// @param listed path and target in turn, each ended by NUL
    Links(String listed) {
        String[] texts = listed.split("\0", -1);
        for (int i = 0; i + 1 < texts.length; i += 2) {
            targets.put(texts[i], texts[i + 1]);
        }
    }

    /// What a file may be called that a process named so: as it was given; with all links followed; with all
    /// but the last.
    ///
    /// @param cwd where relative names begin, null where that is not known
    Set<String> namesOf(String given, @Nullable String cwd, int pid) {
        var names = new LinkedHashSet<String>();
        names.add(given);
        if (given.startsWith("/") || cwd != null) {
            String path = given.startsWith("/") ? given : cwd + "/" + given;
            path = path.replaceFirst("^/proc/(self|thread-self)(?=/|$)", "/proc/" + pid);
            names.add(followed(path, true));
            names.add(followed(path, false));
        } else {
            names.add("*/" + given.replaceFirst("^\\./", ""));
        }
        return names;
    }

    private String followed(String path, boolean isLastFollowed) {
        Deque<String> rest = new ArrayDeque<>(List.of(path.split("/+")));
        Deque<String> done = new ArrayDeque<>();
        int followed = 0;
        while (!rest.isEmpty()) {
            String name = rest.removeFirst();
            if (name.isEmpty() || name.equals(".")) {
                continue;
            }
            if (name.equals("..")) {
                done.pollLast();
                continue;
            }
            done.addLast(name);
            String target = targets.get("/" + String.join("/", done));
            if (target == null || rest.isEmpty() && !isLastFollowed || ++followed > FOLLOWED_MAX) {
                continue;
            }
            done.removeLast();
            if (target.startsWith("/")) {
                done.clear();
            }
            List.of(target.split("/+")).reversed().forEach(rest::addFirst);
        }
        return "/" + String.join("/", done);
    }
}
