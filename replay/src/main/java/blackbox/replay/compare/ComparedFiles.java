package blackbox.replay.compare;

import blackbox.evidence.store.Recordings;
import blackbox.query.run.RunFacts;
import blackbox.query.run.RunOpening;
import blackbox.replay.ReplayException;
import blackbox.replay.content.ContentMatch;
import blackbox.replay.content.GitIndex;
import blackbox.replay.content.Origins;
import blackbox.replay.content.Tie;
import blackbox.replay.content.Ties;
import blackbox.replay.content.Window;
import blackbox.replay.divergence.EffectDifference;
import blackbox.replay.divergence.LeftFiles;
import blackbox.replay.divergence.strand.EventSource;
import blackbox.replay.files.FileDifference;
import blackbox.replay.files.FilesAtEnd;
import blackbox.replay.files.FilesMatch;
import blackbox.replay.files.RecordedFiles;
import blackbox.schemas.row.Text;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The files that a run left, beside those that its replay, or another run, left. One comparison by one thread.
public final class ComparedFiles implements LeftFiles {
    private static final int TEXT_MAX = 1_000;
    private static final String GIT_INDEX = "/.git/index";

    private final Left recorded;
    private final Left actual;
    private final List<String> compared = new ArrayList<>();
    private final List<String> notCompared = new ArrayList<>();
    private final Tied times = new Tied();
    private final Tied inContents = new Tied();
    private StandIns names = (_, _) -> false;

    /// Where one side's files come from.
    ///
    /// @param events say when they were written
    public record Left(Opener files, EventSource events) {}

    /// Assembles a side's disk, which is closed afterwards.
    @FunctionalInterface
    public interface Opener {
        RecordedFiles open() throws ReplayException, IOException;
    }

    public ComparedFiles(Left recorded, Left actual) {
        this.recorded = recorded;
        this.actual = actual;
    }

    /// Those of a recorded run.
    public static Left of(Recordings recordings, RunFacts facts) {
        return new Left(() -> FilesAtEnd.ofRun(recordings, facts), RecordedSide.events(recordings, facts.run()));
    }

    /// Those of two recorded runs, which can be compared if both began with the same image.
    public static ComparedFiles ofRuns(Recordings recordings, RunFacts one, RunFacts other) {
        String first = image(one);
        if (first != null && first.equals(image(other))) {
            return new ComparedFiles(of(recordings, one), of(recordings, other));
        }
        Left unknown = new Left(
                () -> new RecordedFiles.Unknown("the runs began with different images, or do not say with which"),
                RecordedSide.events(recordings, one.run()));
        return new ComparedFiles(unknown, unknown);
    }

    private static @Nullable String image(RunFacts facts) {
        try {
            RunOpening.Image image = facts.opening().image();
            return image == null ? null : image.digest().toString();
        } catch (IllegalArgumentException e) {
            return null; // what was recorded first cannot be read
        }
    }

    @Override
    public @Nullable Result compare(StandIns names) throws IOException, ReplayException {
        this.names = names;
        try (Opened one = Opened.of(recorded);
                Opened other = Opened.of(actual)) {
            FilesAtEnd was = one.files();
            FilesAtEnd is = other.files();
            if (was == null || is == null) {
                notCompared.add("the files that were left: " + (was == null ? one.why() : other.why()));
                return null;
            }
            var rule = new Times();
            FilesMatch match = FilesMatch.of(was, is, names::standFor, rule::firstDifference);
            say(match);
            return new Result(
                    match.files(),
                    match.octets(),
                    match.count(),
                    match.differences().stream().map(ComparedFiles::effect).toList(),
                    times.count + inContents.count + match.pairs().count() > 0);
        } catch (ReplayException e) {
            if (e.code() != ReplayException.Code.ENGINE) {
                throw e;
            }
            // A guest can leave a disk that nobody can read.
            notCompared.add("the files that were left: " + e.getMessage());
            return null;
        }
    }

    private static EffectDifference effect(FileDifference file) {
        return new EffectDifference(
                EffectDifference.Kind.FILE,
                brief(file.path().toString()),
                brief(file.expected()),
                brief(file.actual()));
    }

    /// A guest can nest folders as deep as it likes.
    private static String brief(String text) {
        return text.length() <= TEXT_MAX ? text : text.substring(0, TEXT_MAX - 1) + "…";
    }

    private void say(FilesMatch match) {
        compared.add("the files that were left on the disk: " + match.files() + ", with " + match.octets() + " octets");
        notCompared.add("times and inode numbers of the files that were left");
        if (match.pairs().count() > 0) {
            FilesMatch.Pair first = match.pairs().first().getFirst();
            notCompared.add("names of files that were left and stand for each other: "
                    + match.pairs().count() + " (" + brief(first.recorded().toString()) + " for "
                    + brief(first.actual().toString()) + ")");
        }
        times.say("times in the files that were left, each from when its side wrote it");
        inContents.say("made-up names in the files that were left, which stand for each other");
    }

    /// Whether a made-up name of the recorded side stands for one of the other side, once [#compare] was called.
    public boolean standFor(String recordedName, String actualName) {
        return names.standFor(Text.of(recordedName), Text.of(actualName));
    }

    /// Values that stood for others.
    private final class Tied {
        private @Nullable Tie first;
        private long count;

        void add(Ties ties) {
            count += ties.count();
            first = first == null && ties.count() > 0 ? ties.first().getFirst() : first;
        }

        void say(String what) {
            if (first != null) {
                notCompared.add(what + ": " + count + " (" + first.recorded() + " for " + first.actual() + ")");
            }
        }
    }

    /// What was compared, in words, after [#compare].
    public List<String> compared() {
        return compared;
    }

    /// What was not, and why.
    public List<String> notCompared() {
        return notCompared;
    }

    /// One side's disk, or why it is not known.
    private record Opened(@Nullable FilesAtEnd files, String why) implements AutoCloseable {
        static Opened of(Left side) throws IOException, ReplayException {
            return switch (side.files().open()) {
                case RecordedFiles.Known known -> new Opened(known.files(), "");
                case RecordedFiles.Unknown unknown -> new Opened(null, unknown.why());
            };
        }

        @Override
        public void close() throws ReplayException {
            if (files != null) {
                files.close();
            }
        }
    }

    /// Lets times stand for each other. The events are read only if contents differ.
    private final class Times {
        private @Nullable WriteTimes recordedTimes;
        private @Nullable WriteTimes actualTimes;

        @Nullable
        Long firstDifference(Text path, InputStream was, InputStream is) throws IOException {
            WriteTimes one = recordedTimes == null ? WriteTimes.of(recorded.events()) : recordedTimes;
            WriteTimes other = actualTimes == null ? WriteTimes.of(actual.events()) : actualTimes;
            recordedTimes = one;
            actualTimes = other;
            ContentMatch match = match(path, was, is, one, other);
            times.add(match.times());
            inContents.add(match.names());
            return match.firstDifference();
        }

        private ContentMatch match(Text path, InputStream was, InputStream is, WriteTimes one, WriteTimes other)
                throws IOException {
            Window run = one.run();
            Window otherRun = other.run();
            if (path.toString().endsWith(GIT_INDEX) && run != null && otherRun != null) {
                return GitIndex.compare(was, run, is, otherRun);
            }
            return ContentMatch.of(was, is, new Origins(one.of(path), other.of(path), ComparedFiles.this::standFor));
        }
    }
}
