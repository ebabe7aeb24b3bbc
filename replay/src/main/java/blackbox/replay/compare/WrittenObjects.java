package blackbox.replay.compare;

import blackbox.replay.content.Window;
import blackbox.replay.divergence.strand.EventCursor;
import blackbox.replay.divergence.strand.EventSource;
import blackbox.replay.files.FilesAtEnd;
import blackbox.replay.git.GitObject;
import blackbox.replay.git.ObjectSource;
import blackbox.replay.git.Packs;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.EventViews;
import blackbox.schemas.view.FileView;
import blackbox.schemas.view.ProcessId;
import blackbox.schemas.view.ProcessView;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Git's objects that one side wrote, each in a file of its own: what its events say of them, and its disk at the end,
/// where they may be in packs by then.
///
/// Git writes an object under a name that it makes up and then links or renames it to its id, so that this event says
/// who made it and when. A link from another object's file is a copy of a repository.
///
/// Memory: [#OBJECTS_MAX] objects with [#PLACES_MAX] places each; further ones are not known.
final class WrittenObjects implements ObjectSource {
    static final int OBJECTS_MAX = 20_000;
    private static final int PLACES_MAX = 4;
    private static final int PROGRAMS_MAX = 65_536;
    private static final Pattern OBJECT = Pattern.compile("(.*/)objects/([0-9a-f]{2})/([0-9a-f]{38})");
    private static final Pattern PACK = Pattern.compile("(.*/objects/)pack/pack-[0-9a-f]{40}\\.pack");
    private static final int PACKS_MAX = 1_000;
    private static final int FOLDERS_MAX = 100;
    private static final Pattern UNFINISHED = Pattern.compile(".*/tmp_obj_[A-Za-z0-9]+");
    private static final String FOLDER = ".git/";

    private final FilesAtEnd files;
    private final Times times;
    private final Map<String, Written> objects = new LinkedHashMap<>();
    /// Paths of packs, and of folders of objects.
    private final Set<Text> packPaths = new LinkedHashSet<>();

    private final Set<Text> folders = new LinkedHashSet<>();
    private @Nullable Packs packs;
    private final Map<ProcessId, Long> began = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<ProcessId, Long> eldest) {
            return size() > PROGRAMS_MAX;
        }
    };

    /// Says when files were written; reads the events for that when it is first asked.
    @FunctionalInterface
    interface Times {
        WriteTimes read() throws IOException;
    }

    /// One object.
    ///
    /// @param paths of its files
    /// @param made when
    private record Written(List<Text> paths, List<Window> made) {}

    private WrittenObjects(FilesAtEnd files, Times times) {
        this.files = files;
        this.times = times;
    }

    /// Reads all events once.
    ///
    /// @param files are not closed here
    static WrittenObjects of(EventSource events, FilesAtEnd files, Times times) throws IOException {
        var written = new WrittenObjects(files, times);
        var views = new EventViews();
        try (EventCursor cursor = events.open(0)) {
            while (cursor.next()) {
                written.see(views.of(cursor.row()));
            }
        }
        return written;
    }

    private void see(EventView event) {
        if (event instanceof ProcessView.Exec || event instanceof ProcessView.Fork) {
            ProcessId process = event.process();
            if (process != null && !event.failed()) {
                began.put(process, event.atNs());
            }
        } else if (event instanceof FileView.ToName named && !named.failed()) {
            named(named);
        }
    }

    private void named(FileView.ToName event) {
        Text from = event.path();
        Text to = event.pathTo();
        if (from == null || to == null) {
            return;
        }
        Matcher object = OBJECT.matcher(to.toString());
        if (!object.matches()) {
            packed(to);
            return;
        }
        add(folders, FOLDERS_MAX, Text.of(object.group(1) + "objects/"));
        String id = object.group(2) + object.group(3);
        Written known = objects.get(id);
        if (known == null && objects.size() < OBJECTS_MAX) {
            known = new Written(new ArrayList<>(), new ArrayList<>());
            objects.put(id, known);
        }
        if (known == null || known.paths().size() == PLACES_MAX) {
            return;
        }
        known.paths().add(to);
        if (UNFINISHED.matcher(from.toString()).matches()) {
            long atNs = event.atNs();
            ProcessId process = event.process();
            Long since = process == null ? null : began.get(process);
            known.made().add(new Window(since == null ? atNs : Math.min(since, atNs), atNs));
        }
    }

    private void packed(Text to) {
        Matcher pack = PACK.matcher(to.toString());
        if (pack.matches()) {
            add(packPaths, PACKS_MAX, to);
            add(folders, FOLDERS_MAX, Text.of(pack.group(1)));
        }
    }

    private static void add(Set<Text> known, int max, Text path) {
        if (known.size() < max) {
            known.add(path);
        }
    }

    /// Whether it wrote neither objects nor packs.
    boolean isEmpty() {
        return objects.isEmpty() && packPaths.isEmpty();
    }

    /// The packs that it wrote and left.
    Packs packs() throws IOException {
        Packs known = packs;
        if (known == null) {
            // Packs that were written first may be gone.
            known = Packs.of(new ArrayList<>(packPaths).reversed(), files::open);
            packs = known;
        }
        return known;
    }

    /// The same, with the commit graphs beside them.
    Packs packsAndGraphs() throws IOException {
        Packs known = packs();
        known.readGraphs(folders, this::find);
        return known;
    }

    @Override
    public Set<String> written() {
        return Collections.unmodifiableSet(objects.keySet());
    }

    @Override
    public List<Window> made(String id) {
        Written object = objects.get(id);
        return object == null ? List.of() : object.made();
    }

    @Override
    public @Nullable Window fileWritten(String commit, String path) throws IOException {
        Written object = objects.get(commit);
        Matcher place =
                object == null ? null : OBJECT.matcher(object.paths().getFirst().toString());
        if (place == null || !place.matches() || !place.group(1).endsWith('/' + FOLDER)) {
            return null;
        }
        String folder = place.group(1);
        return times.read().window(Text.of(folder.substring(0, folder.length() - FOLDER.length()) + path));
    }

    /// What it wrote as a file of its own, also if that is only in a pack by now.
    @Override
    public @Nullable GitObject read(String id) throws IOException {
        return objects.containsKey(id) ? find(id) : null;
    }

    private @Nullable GitObject find(String id) throws IOException {
        Written object = objects.get(id);
        for (Text path : object == null ? List.<Text>of() : object.paths()) {
            try (InputStream in = files.open(path)) {
                GitObject read = in == null ? null : GitObject.read(in, id);
                if (read != null) {
                    return read;
                }
            }
        }
        return packs().read(id);
    }
}
