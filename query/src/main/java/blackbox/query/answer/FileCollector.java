package blackbox.query.answer;

import blackbox.schemas.row.Text;
import blackbox.schemas.view.Counts;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.FileEffect;
import blackbox.schemas.view.FileView;
import blackbox.schemas.view.NetView;
import blackbox.schemas.view.PrivilegeView;
import blackbox.schemas.view.ProcessView;
import blackbox.schemas.view.RecorderView;
import blackbox.schemas.view.RunView;
import blackbox.schemas.view.VmView;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Gathers what happened to each path. Failed calls do not count.
final class FileCollector {

    /// Paths beyond this many are counted, not kept.
    static final int PATHS_MAX = 1_000_000;

    private final Map<Text, Use> uses = new LinkedHashMap<>();
    private final Room room;
    private long unkept;

    private static final class Use {
        final Set<FileEffect> effects = EnumSet.noneOf(FileEffect.class);
        long bytesRead;
        long bytesWritten;

        @Nullable
        Text renamedTo;
    }

    FileCollector(Room room) {
        this.room = room;
    }

    void see(EventView event) {
        switch (event) {
            case FileView.Io io -> {
                Use use = use(io.path(), io.effects());
                if (use != null) {
                    use.bytesRead = Counts.sum(use.bytesRead, io.bytesRead());
                    use.bytesWritten = Counts.sum(use.bytesWritten, io.bytesWritten());
                }
            }
            case FileView.Rename rename -> {
                Use use = use(rename.path(), rename.effects());
                if (use != null && rename.pathTo() != null && !rename.isExchange()) {
                    use.renamedTo = rename.pathTo();
                }
                use(rename.pathTo(), rename.effectsThere());
            }
            case FileView.Link link -> use(link.pathTo(), link.effectsThere());
            case FileView file -> use(file.path(), file.effects());
            case ProcessView _,
                    NetView _,
                    PrivilegeView _,
                    RecorderView _,
                    VmView _,
                    RunView _,
                    EventView.Unknown _ -> {}
        }
    }

    private @Nullable Use use(@Nullable Text path, Set<FileEffect> effects) {
        if (path == null || effects.isEmpty()) {
            return null;
        }
        Use use = use(path);
        if (use != null) {
            use.effects.addAll(effects);
        }
        return use;
    }

    private @Nullable Use use(Text path) {
        Use known = uses.get(path);
        if (known != null || !FileView.isFile(path)) {
            return known;
        }
        if (!room.take()) {
            unkept++;
            return null;
        }
        var fresh = new Use();
        uses.put(path, fresh);
        return fresh;
    }

    List<Touched.FileUse> files() {
        var files = new ArrayList<Touched.FileUse>();
        uses.forEach((path, use) -> {
            var deeds = Touched.FileDeeds.of(use.effects);
            files.add(new Touched.FileUse(path, deeds, use.bytesRead, use.bytesWritten, use.renamedTo));
        });
        return files;
    }

    private static boolean onlyOpened(Use use) {
        return use.effects.contains(FileEffect.OPENS) && !use.effects.contains(FileEffect.READS);
    }

    List<String> limits() {
        var limits = new ArrayList<String>();
        long mapped = uses.values().stream()
                .filter(use -> use.effects.contains(FileEffect.MAPS))
                .count();
        if (mapped > 0) {
            limits.add(mapped
                    + " files were mapped shared and writable; what was written through the mappings was not seen");
        }
        if (uses.values().stream().anyMatch(FileCollector::onlyOpened)) {
            limits.add(
                    "what is read through a mapping of a file is not seen: a file that was opened and not read may have"
                            + " been read that way");
        }
        if (unkept > 0) {
            limits.add("only the first " + room.most() + " paths are listed; " + unkept + " events named others");
        }
        return limits;
    }
}
