package blackbox.replay.compare;

import blackbox.replay.content.NameTime;
import blackbox.replay.content.OwnIds;
import blackbox.replay.content.Window;
import blackbox.replay.divergence.strand.EventCursor;
import blackbox.replay.divergence.strand.EventSource;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.EventViews;
import blackbox.schemas.view.FileView;
import blackbox.schemas.view.ProcessId;
import blackbox.schemas.view.ProcessView;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Ids of sessions that agents draw and give to [their own records][TranscriptIds#are] as names: that of the n-th
/// record which one side created stands for that of the n-th of the other, if the rest of their paths is the same but
/// for a time of that side's own, and neither id is in such a name of the other side. In an id with a time (a UUID of
/// version 7), that must be its side's own, too.
final class SessionNames {
    /// Its name in a verdict.
    private static final String RULE = "session-name: ids of sessions in the names of agents' own records of them"
            + " (Claude Code's and pi's) stand for the recorded ones, each for one and wherever it is written";

    private static final int RECORDS_MAX = 1_000;
    private static final Pattern ID =
            Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-([0-9a-f])[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}");
    private static final long MILLISECOND_NS = 1_000_000;

    static final SessionNames NONE = new SessionNames(Map.of());

    private final Map<String, String> actualOf;

    /// A record that was created.
    ///
    /// @param form its path without the id and without a time that is its side's own
    private record Created(String form, String id) {}

    private SessionNames(Map<String, String> actualOf) {
        this.actualOf = actualOf;
    }

    /// Those of two sides.
    static SessionNames of(EventSource recorded, EventSource actual) throws IOException {
        List<Created> was = created(recorded);
        List<Created> is = created(actual);
        Set<String> shared = ids(was);
        shared.retainAll(ids(is));
        var pairs = new LinkedHashMap<String, String>();
        for (int i = 0; i < Math.min(was.size(), is.size()); i++) {
            Created one = was.get(i);
            Created other = is.get(i);
            boolean isTied = one.form().equals(other.form())
                    && TranscriptIds.isSameForm(one.id(), other.id())
                    && !shared.contains(one.id())
                    && !shared.contains(other.id());
            String known = isTied ? pairs.putIfAbsent(one.id(), other.id()) : null;
            if (known != null && !known.equals(other.id())) {
                pairs.remove(one.id());
                shared.add(one.id());
            }
        }
        boolean isOneForOne = Set.copyOf(pairs.values()).size() == pairs.size();
        return pairs.isEmpty() || !isOneForOne ? NONE : new SessionNames(pairs);
    }

    private static Set<String> ids(List<Created> records) {
        return records.stream().map(Created::id).collect(Collectors.toCollection(HashSet::new));
    }

    private static List<Created> created(EventSource side) throws IOException {
        var created = new ArrayList<Created>();
        var began = new HashMap<ProcessId, Long>();
        var views = new EventViews();
        try (EventCursor events = side.open(0)) {
            while (created.size() < RECORDS_MAX && events.next()) {
                switch (views.of(events.row())) {
                    case ProcessView.Exec exec
                    when exec.process() != null && !exec.failed() -> began.put(exec.process(), exec.atNs());
                    case ProcessView.Exit exit -> began.remove(exit.process());
                    case FileView.Open open
                    when open.created() && !open.failed() -> {
                        Text path = open.path();
                        if (path != null && TranscriptIds.are(path)) {
                            long since = began.getOrDefault(open.process(), open.atNs());
                            Created record = of(path.toString(), NameTime.window(since, open.atNs()));
                            if (record != null) {
                                created.add(record);
                            }
                        }
                    }
                    default -> {}
                }
            }
        }
        return created;
    }

    private static @Nullable Created of(String path, Window when) {
        int name = path.lastIndexOf('/') + 1;
        Matcher id = ID.matcher(path);
        if (!id.find(name)) {
            return null;
        }
        String first = id.group();
        boolean isTimed = "7".equals(id.group(1));
        long ms = Long.parseLong(first.replace("-", "").substring(0, 12), 16);
        if (id.find()
                || isTimed
                        && (ms > Long.MAX_VALUE / MILLISECOND_NS || !when.has(ms * MILLISECOND_NS, MILLISECOND_NS))) {
            return null;
        }
        return new Created(withoutTime(path.replace(first, "*"), name, when), first);
    }

    /// The path without the first time in its last name, if that is of the window.
    private static String withoutTime(String path, int name, Window when) {
        byte[] octets = path.getBytes(StandardCharsets.UTF_8);
        int from = path.substring(0, name).getBytes(StandardCharsets.UTF_8).length;
        for (int i = from; i < octets.length; i++) {
            NameTime time = NameTime.at(octets, i, octets.length);
            if (time != null) {
                return time.isIn(when)
                        ? new String(octets, 0, i, StandardCharsets.UTF_8) + "@"
                                + new String(
                                        octets,
                                        i + time.length(),
                                        octets.length - i - time.length(),
                                        StandardCharsets.UTF_8)
                        : path;
            }
        }
        return path;
    }

    /// These ids, and others that are known already, which come first.
    OwnIds with(Map<String, String> known) {
        var all = new HashMap<>(known);
        Set<String> others = Set.copyOf(known.values());
        actualOf.forEach((recorded, actual) -> {
            if (!others.contains(actual)) {
                all.putIfAbsent(recorded, actual);
            }
        });
        return OwnIds.of(all);
    }

    /// The rule, if it was needed.
    List<String> rules() {
        return actualOf.isEmpty() ? List.of() : List.of(RULE);
    }
}
