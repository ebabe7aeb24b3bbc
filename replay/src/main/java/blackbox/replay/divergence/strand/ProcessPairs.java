package blackbox.replay.divergence.strand;

import blackbox.replay.divergence.strand.ProcessLives.Life;
import blackbox.replay.divergence.text.KeyedHash;
import blackbox.replay.divergence.text.KnownNames;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// Which processes of two sides stand for each other: those that have one place in the history of forks and programs.
/// Reads the sides when it is first asked. Owned by one thread.
public final class ProcessPairs {
    /// Lower numbers are those of the kernel's threads and of what starts the agent, and too common.
    private static final long NUMBER_MIN = 100;

    private final Reading recorded;
    private final Reading actual;
    private @Nullable ProcessLives one;
    private @Nullable ProcessLives other;

    /// How one side is read.
    ///
    /// @param known what is known about its names
    public record Reading(EventSource events, KnownNames known, KeyedHash hash) {
        private ProcessLives read() throws IOException {
            return ProcessLives.read(hash, known, events);
        }
    }

    /// A number, and when it was written, in nanoseconds since 1970.
    public record Written(long number, long sinceNs, long untilNs) {}

    public ProcessPairs(Reading recorded, Reading actual) {
        this.recorded = recorded;
        this.actual = actual;
    }

    /// Whether two numbers are those of processes that stand for each other, and each process lived when its number was
    /// written.
    public boolean isPair(Written was, Written is) throws IOException {
        if (was.number() < NUMBER_MIN || is.number() < NUMBER_MIN) {
            return false;
        }
        ProcessLives here = one == null ? recorded.read() : one;
        one = here;
        ProcessLives there = other == null ? actual.read() : other;
        other = there;
        return here.numbered(was.number()).stream()
                .filter(life -> life.livedIn(was.sinceNs(), was.untilNs()))
                .anyMatch(life -> isOf(there.ofKey(life.key()), is));
    }

    private static boolean isOf(@Nullable Life life, Written is) {
        return life != null && life.number() == is.number() && life.livedIn(is.sinceNs(), is.untilNs());
    }
}
