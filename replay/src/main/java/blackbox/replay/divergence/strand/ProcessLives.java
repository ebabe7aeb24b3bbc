package blackbox.replay.divergence.strand;

import blackbox.replay.divergence.text.KeyedHash;
import blackbox.replay.divergence.text.KnownNames;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.EventViews;
import blackbox.schemas.view.ProcessId;
import blackbox.schemas.view.ProcessView;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// From when to when each process of one side lived, by the key under which the other side knows it.
///
/// Memory: [#PROCESSES_MAX] processes; nothing is known of further ones.
final class ProcessLives {
    static final int PROCESSES_MAX = 1 << 17;

    private final Map<ProcessId, Life> lives = new HashMap<>();
    private final Map<Long, ProcessId> begun = new HashMap<>();
    private final Map<Long, Life> byKey = new HashMap<>();
    private final Map<Long, List<Life>> byNumber = new HashMap<>();

    /// One process.
    static final class Life {
        private final ProcessId process;
        private final long fromNs;
        private long toNs = Long.MAX_VALUE;
        private long key;

        private Life(ProcessId process, long fromNs) {
            this.process = process;
            this.fromNs = fromNs;
        }

        long number() {
            return process.pid();
        }

        long key() {
            return key;
        }

        /// Whether it lived at some time of a stretch.
        boolean livedIn(long sinceNs, long untilNs) {
            return fromNs <= untilNs && toNs >= sinceNs;
        }
    }

    private ProcessLives() {}

    /// Reads all events once.
    ///
    /// @param hash the same for both sides
    static ProcessLives read(KeyedHash hash, KnownNames known, EventSource source) throws IOException {
        var all = new ProcessLives();
        var lineage = new Lineage(hash, known, new TokenSink() {
            @Override
            public void accept(Strand strand, Token token) {
                all.name(token.index(), strand.process());
            }

            @Override
            public void ended(Strand strand) {}
        });
        var views = new EventViews();
        try (EventCursor cursor = source.open(0)) {
            while (cursor.next()) {
                EventView event = views.of(cursor.row());
                all.see(event, cursor.index());
                lineage.add(event, cursor.index());
            }
        }
        lineage.finish();
        return all;
    }

    private void see(EventView event, long index) {
        ProcessId process = event.isByGuest() ? event.process() : null;
        if (process == null) {
            return;
        }
        Life life = lives.get(process);
        if (life == null && lives.size() < PROCESSES_MAX) {
            life = new Life(process, event.atNs());
            lives.put(process, life);
            begun.put(index, process);
            byNumber.computeIfAbsent(process.pid(), _ -> new ArrayList<>(1)).add(life);
        }
        if (life != null && event instanceof ProcessView.Exit) {
            life.toNs = event.atNs();
        }
    }

    /// Notes the key of the process whose first event is at an index.
    private void name(long index, long key) {
        ProcessId process = begun.remove(index);
        Life life = process == null ? null : lives.get(process);
        if (life != null && key != 0) {
            life.key = key;
            byKey.put(key, life);
        }
    }

    /// All that had this number, one after the other.
    List<Life> numbered(long number) {
        return byNumber.getOrDefault(number, List.of());
    }

    @Nullable
    Life ofKey(long key) {
        return key == 0 ? null : byKey.get(key);
    }
}
