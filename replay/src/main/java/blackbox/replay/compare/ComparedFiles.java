package blackbox.replay.compare;

import blackbox.evidence.store.Recordings;
import blackbox.query.run.RunFacts;
import blackbox.query.run.RunOpening;
import blackbox.replay.ReplayException;
import blackbox.replay.content.CompiledPython;
import blackbox.replay.content.ContentMatch;
import blackbox.replay.content.KnownTies;
import blackbox.replay.content.NameTime;
import blackbox.replay.content.Origins;
import blackbox.replay.content.OwnIds;
import blackbox.replay.content.StandInInput;
import blackbox.replay.content.Tie;
import blackbox.replay.content.Ties;
import blackbox.replay.content.Window;
import blackbox.replay.content.WrittenWhen;
import blackbox.replay.divergence.EffectDifference;
import blackbox.replay.divergence.LeftFiles;
import blackbox.replay.divergence.strand.EventSource;
import blackbox.replay.files.ContentRule.Found;
import blackbox.replay.files.FileDifference;
import blackbox.replay.files.FileTimes;
import blackbox.replay.files.FilesAtEnd;
import blackbox.replay.files.FilesMatch;
import blackbox.replay.files.Names;
import blackbox.replay.files.RecordedFiles;
import blackbox.replay.fs.DamagedTreeException;
import blackbox.replay.git.GitIndex;
import blackbox.replay.git.GitObject;
import blackbox.replay.git.IdTies;
import blackbox.replay.git.ObjectProof;
import blackbox.replay.git.PackTies;
import blackbox.schemas.row.Text;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/// The files that a run left, beside those that its replay, or another run, left. One comparison by one thread.
public final class ComparedFiles implements LeftFiles, KnownTies, AutoCloseable {
    private static final int TEXT_MAX = 1_000;
    private static final String GIT_INDEX = "/.git/index";

    private final Left recorded;
    private final Left actual;
    private final OwnIds drawn;
    private final SessionNames sessions;
    private final List<String> compared = new ArrayList<>();
    private final List<String> notCompared = new ArrayList<>();
    private final Tied times = new Tied();
    private final Tied inContents = new Tied();
    private final Tied processNumbers = new Tied();
    private final Tied durations = new Tied();
    private final TranscriptIds transcriptIds;
    private StandIns names = (_, _) -> false;
    private @Nullable ComparedDatabases databases;
    private long movedEntries;
    private long certificates;
    private IdTies ids = IdTies.NONE;
    private PackTies packs = PackTies.NONE;
    private FileTimes fileTimes = new FileTimes();
    private final FileTimes nameTimes = new FileTimes();
    private @Nullable Opened opened;
    private @Nullable WriteTimes recordedTimes;
    private @Nullable WriteTimes actualTimes;

    /// Where one side's files come from.
    ///
    /// @param events say when they were written
    /// @param authority the certificate that its programs were given to trust, in PEM, or null
    public record Left(
            Opener files, EventSource events, @Nullable String authority) {
        public Left(Opener files, EventSource events) {
            this(files, events, null);
        }
    }

    /// Assembles a side's disk, which is closed afterwards.
    @FunctionalInterface
    public interface Opener {
        RecordedFiles open() throws ReplayException, IOException;
    }

    public ComparedFiles(Left recorded, Left actual) {
        this(recorded, actual, Map.of(), SessionNames.NONE);
    }

    private ComparedFiles(Left recorded, Left actual, Map<String, String> drawn, SessionNames sessions) {
        this.recorded = recorded;
        this.actual = actual;
        this.drawn = sessions.with(drawn);
        this.sessions = sessions;
        this.transcriptIds = new TranscriptIds(this.drawn);
    }

    /// @param drawn ids of the actual side by the recorded ones for which they stand, as its requests showed
    public static ComparedFiles of(Left recorded, Left actual, Map<String, String> drawn) throws IOException {
        return new ComparedFiles(recorded, actual, drawn, SessionNames.of(recorded.events(), actual.events()));
    }

    @Override
    public OwnIds drawn() {
        return drawn;
    }

    /// Those of a recorded run.
    public static Left of(Recordings recordings, RunFacts facts) {
        return new Left(
                () -> FilesAtEnd.ofRun(recordings, facts),
                RecordedSide.events(recordings, facts.run()),
                authority(facts));
    }

    /// Those of two recorded runs, which can be compared if both began with the same image.
    public static ComparedFiles ofRuns(Recordings recordings, RunFacts one, RunFacts other) throws IOException {
        String first = image(one);
        if (first != null && first.equals(image(other))) {
            return of(of(recordings, one), of(recordings, other), Map.of());
        }
        Left unknown = new Left(
                () -> new RecordedFiles.Unknown("the runs began with different images, or do not say with which"),
                RecordedSide.events(recordings, one.run()));
        return new ComparedFiles(unknown, unknown);
    }

    private static @Nullable String authority(RunFacts facts) {
        try {
            return facts.opening().agent().trusted();
        } catch (IllegalArgumentException e) {
            return null; // what was recorded first cannot be read
        }
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
    public Map<String, String> ids() throws IOException, ReplayException {
        try {
            Opened was = opened();
            FilesAtEnd one = was.recorded().files();
            FilesAtEnd other = was.actual().files();
            if (one != null && other != null) {
                WrittenObjects written = WrittenObjects.of(recorded.events(), one, this::recordedTimes);
                if (!written.isEmpty()) {
                    findIds(written, WrittenObjects.of(actual.events(), other, this::actualTimes));
                }
            }
        } catch (DamagedTreeException e) {
            ids = IdTies.NONE; // the comparison meets it again, and says so
        } catch (ReplayException e) {
            refuseUnlessUnreadable(e);
        }
        return ids.pairs();
    }

    private void findIds(WrittenObjects one, WrittenObjects other) throws IOException {
        IdTies objects = ObjectProof.of(one, other);
        packs = PackTies.of(one.packsAndGraphs(), other.packsAndGraphs(), objects);
        ids = objects;
    }

    @Override
    public @Nullable Result compare(StandIns names) throws IOException, ReplayException {
        this.names = names;
        try {
            Opened both = opened();
            FilesAtEnd was = both.recorded().files();
            FilesAtEnd is = both.actual().files();
            if (was == null || is == null) {
                notCompared.add("the files that were left: "
                        + (was == null ? both.recorded().why() : both.actual().why()));
                return null;
            }
            var sqlite = new ComparedDatabases(was, is);
            databases = sqlite;
            FilesMatch match = FilesMatch.of(was, is, new NamesOfFiles(), this::difference);
            say(match, sqlite.same());
            fileTimes = match.times();
            var differences = new ArrayList<>(
                    match.differences().stream().map(ComparedFiles::effect).toList());
            Map.Entry<String, String> refuted = transcriptIds.refuted();
            if (refuted != null) {
                differences.add(new EffectDifference(
                        EffectDifference.Kind.FILE,
                        "agents' own records of their sessions",
                        "the id " + refuted.getKey(),
                        "the id " + refuted.getValue() + ", though the other side has one of them, too"));
            }
            return new Result(
                    match.files(),
                    match.octets(),
                    match.count() + (refuted == null ? 0 : 1),
                    differences,
                    times.count
                                    + inContents.count
                                    + processNumbers.count
                                    + durations.count
                                    + movedEntries
                                    + certificates
                                    + sqlite.same()
                                    + match.pairs().count()
                                    + transcriptIds.count()
                                    + ids.pairs().size()
                            > 0);
        } catch (ReplayException e) {
            refuseUnlessUnreadable(e);
            notCompared.add("the files that were left: " + e.getMessage());
            return null;
        } finally {
            close();
        }
    }

    /// A guest can leave a disk that nobody can read.
    private static void refuseUnlessUnreadable(ReplayException e) throws ReplayException {
        if (e.code() != ReplayException.Code.ENGINE) {
            throw e;
        }
    }

    /// Both disks, open until [#close].
    private Opened opened() throws IOException, ReplayException {
        Opened known = opened;
        if (known == null) {
            Disk one = Disk.of(recorded);
            try {
                known = new Opened(one, Disk.of(actual));
            } finally {
                if (known == null) {
                    one.close();
                }
            }
            opened = known;
        }
        return known;
    }

    /// Closes the disks.
    @Override
    public void close() throws ReplayException {
        Opened known = opened;
        opened = null;
        if (known != null) {
            try (Disk _ = known.recorded()) {
                known.actual().close();
            }
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

    private void say(FilesMatch match, long sameDatabases) {
        compared.add("the files that were left on the disk: " + match.files() + ", with " + match.octets() + " octets");
        notCompared.add("times and inode numbers of the files that were left");
        if (match.pairs().count() > 0) {
            FilesMatch.Pair first = match.pairs().first().getFirst();
            notCompared.add("names of files that were left and stand for each other: "
                    + match.pairs().count() + " (" + brief(first.recorded().toString()) + " for "
                    + brief(first.actual().toString()) + ")");
        }
        times.say("times in the files that were left, each from when its side wrote it");
        inContents.say("made-up names and ids in the files that were left, which stand for each other");
        processNumbers.say("numbers of processes in the files that were left, which stand for each other");
        durations.say("durations in the files that were left, none longer than its side's writer had lived");
        transcriptIds.say(notCompared);
        if (movedEntries > 0) {
            notCompared.add("the order of entries in npm's logs about what it did side by side: " + movedEntries
                    + " are in another place, or say another number of attempts");
        }
        if (certificates > 0) {
            notCompared.add("the certificate of the gateway's authority, of which each side has its own: "
                    + (certificates == 1 ? "once" : certificates + " times") + " in the files that were left");
        }
        if (sameDatabases > 0) {
            notCompared.add("SQLite databases with the same tables and rows, laid out otherwise: " + sameDatabases);
        }
        if (!ids.objects().isEmpty()) {
            Map.Entry<String, String> first =
                    ids.objects().entrySet().iterator().next();
            notCompared.add("ids of git's objects that are the same but for when each side made them: "
                    + ids.objects().size() + " (" + first.getKey() + " for " + first.getValue() + ")");
        }
        if (packs.count() > 0) {
            notCompared.add("order, deltas and compression of git's objects in packs that hold the same ones: "
                    + packs.count() + " with " + packs.objects() + " objects");
        }
    }

    /// Whether made-up names or ids stand for each other, once [#compare] was called.
    @Override
    public boolean standFor(String recordedName, String actualName) {
        return names.standFor(Text.of(recordedName), Text.of(actualName))
                || ids.standFor(recordedName, actualName)
                || drawn.standFor(recordedName, actualName);
    }

    @Override
    public boolean isSameProcess(long was, Window recordedWhen, long is, Window actualWhen) throws IOException {
        return new ProcessNumbers(names.processes()).isSameProcess(was, recordedWhen, is, actualWhen);
    }

    @Override
    public boolean isSameSecond(long recordedSecond, long actualSecond) {
        return ids.isSameSecond(recordedSecond, actualSecond);
    }

    /// Times of files that were left, and in their names, once [#compare] was called.
    @Override
    public boolean anyTimes(long fromNs, long toNs, BiPredicate<Long, Long> test) {
        return fileTimes.anyMatch(fromNs, toNs, test) || nameTimes.anyMatch(fromNs, toNs, test);
    }

    /// Times in the names of what both sides created, each its side's own, in nanoseconds since 1970.
    private record OwnTimes(long recordedNs, long actualNs) {}

    /// Which names of files stand for each other.
    private final class NamesOfFiles implements Names {
        @Override
        public boolean standFor(Text recordedPath, Text actualPath) throws IOException {
            return names.standFor(recordedPath, actualPath)
                    || packs.standFor(recordedPath, actualPath)
                    || isNamedAfterId(recordedPath, actualPath)
                    || isNamedAfterProcess(recordedPath, actualPath)
                    || ownTimes(recordedPath, actualPath) != null;
        }

        @Override
        public void paired(Text recordedPath, Text actualPath) throws IOException {
            OwnTimes own = ownTimes(recordedPath, actualPath);
            if (own != null) {
                nameTimes.add(own.recordedNs(), own.actualNs());
            }
        }

        /// The times in the last names, if these are the same but for times at which each side created what has the
        /// name; else null.
        private @Nullable OwnTimes ownTimes(Text recordedPath, Text actualPath) throws IOException {
            byte[] one = PathTree.lastName(recordedPath);
            byte[] other = common(actualPath);
            NameTime was = NumberedNames.areSameButForNumbers(one, other) ? NameTime.in(one) : null;
            NameTime is = was == null ? null : NameTime.in(other);
            Window recordedWhen = is == null ? null : recordedTimes().named(recordedPath);
            Window actualWhen = is == null ? null : actualTimes().named(actualPath);
            if (was == null || is == null || recordedWhen == null || actualWhen == null || isGiven(was, is)) {
                return null;
            }
            ContentMatch match = ContentMatch.of(
                    new ByteArrayInputStream(one),
                    new ByteArrayInputStream(other),
                    new Origins(WrittenWhen.ofName(recordedWhen), WrittenWhen.ofName(actualWhen)));
            return match.difference() == null ? new OwnTimes(was.ns(), is.ns()) : null;
        }

        /// Whether one of two times is also in the name of what the other side created: it was given to both.
        private boolean isGiven(NameTime was, NameTime is) throws IOException {
            return actualTimes().hasNamed(was) || recordedTimes().hasNamed(is);
        }

        /// The last name, with the recorded ids in the place of those that stand for them.
        private byte[] common(Text actualPath) {
            byte[] name = PathTree.lastName(actualPath);
            byte[] form = drawn.recordedForm(name, 0, name.length);
            return form == null ? name : form;
        }

        private boolean isNamedAfterId(Text recordedPath, Text actualPath) {
            return !drawn.isEmpty()
                    && drawn.standFor(latin(PathTree.lastName(recordedPath)), latin(PathTree.lastName(actualPath)));
        }

        private static String latin(byte[] name) {
            return new String(name, StandardCharsets.ISO_8859_1);
        }

        /// Whether the last names are the same but for numbers of processes that stand for each other.
        private boolean isNamedAfterProcess(Text recordedPath, Text actualPath) throws IOException {
            byte[] one = PathTree.lastName(recordedPath);
            byte[] other = common(actualPath);
            if (!NumberedNames.areSameButForNumbers(one, other)) {
                return false;
            }
            ContentMatch match = ContentMatch.of(
                    new ByteArrayInputStream(one),
                    new ByteArrayInputStream(other),
                    new Origins(
                            recordedTimes().of(recordedPath),
                            actualTimes().of(actualPath),
                            new ProcessNumbers(names.processes())));
            return match.difference() == null
                    && match.processes().count() > 0
                    && match.times().count() + match.durations().count() == 0;
        }

        @Override
        public boolean mayBeSame(Text recordedName) {
            return packs.mayBeSame(recordedName);
        }

        @Override
        public boolean areSame(Text recordedPath, Text actualPath) {
            return packs.areSame(recordedPath, actualPath);
        }

        @Override
        public boolean mayBeFannedOut(Text recordedPath) {
            return !ids.objects().isEmpty();
        }

        @Override
        public @Nullable Text sameAs(Text recordedName) {
            String same = ids.sameFile(recordedName.toString());
            return same == null ? null : Text.of(same);
        }

        @Override
        public boolean holdWhatTheyAreNamedFor(Text recordedName, InputStream was, Text actualName, InputStream is)
                throws IOException {
            GitObject one = GitObject.read(was, id(recordedName));
            GitObject other = GitObject.read(is, id(actualName));
            return one != null && other != null && one.isPackedLike(other);
        }

        @Override
        public boolean wereWritten(Text path, long recordedNs, long actualNs) throws IOException {
            Window one = recordedTimes().window(path);
            Window other = actualTimes().window(path);
            return one != null && other != null && one.has(recordedNs, 1) && other.has(actualNs, 1);
        }

        private static String id(Text name) {
            return name.toString().replace("/", "");
        }
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

    /// Which rules let values stand for others, besides those that hold for all replays.
    public List<String> rules() {
        var rules = new ArrayList<>(sessions.rules());
        if (transcriptIds.applies()) {
            rules.add(TranscriptIds.RULE);
        }
        return rules;
    }

    /// What was not, and why.
    public List<String> notCompared() {
        return notCompared;
    }

    private record Opened(Disk recorded, Disk actual) {}

    /// One side's disk, or why it is not known.
    private record Disk(@Nullable FilesAtEnd files, String why) implements AutoCloseable {
        static Disk of(Left side) throws IOException, ReplayException {
            return switch (side.files().open()) {
                case RecordedFiles.Known known -> new Disk(known.files(), "");
                case RecordedFiles.Unknown unknown -> new Disk(null, unknown.why());
            };
        }

        @Override
        public void close() throws ReplayException {
            if (files != null) {
                files.close();
            }
        }
    }

    /// Lets values stand for each other. The events are read only if contents differ.
    private @Nullable Found difference(FilesMatch.Pair paths, InputStream was, InputStream is) throws IOException {
        Text path = paths.recorded();
        WriteTimes one = recordedTimes();
        WriteTimes other = actualTimes();
        WrittenWhen written = one.of(path);
        WrittenWhen writtenThere = other.of(paths.actual());
        if (TranscriptIds.are(path)) {
            var inTranscript = new Origins(written.sinceBegan(), writtenThere.sinceBegan(), this, transcriptIds);
            ContentMatch match = ContentMatch.of(transcriptIds.recorded(was), transcriptIds.actual(is), inTranscript);
            add(match);
            Long octet = match.firstDifference();
            return octet == null ? null : new Found(octet, "", "");
        }
        var origins = new Origins(written, writtenThere, this);
        ComparedDatabases.Looked looked = databases == null
                ? new ComparedDatabases.Looked(null, false, was, is)
                : databases.look(path, was, is, origins, this::add);
        if (looked.compared()) {
            return looked.difference();
        }
        ContentMatch match = match(path, looked.was(), looked.is(), one, other, origins);
        add(match);
        Long octet = match.firstDifference();
        return octet == null ? null : new Found(octet, "", "");
    }

    private void add(ContentMatch match) {
        times.add(match.times());
        inContents.add(match.names());
        processNumbers.add(match.processes());
        durations.add(match.durations());
    }

    private ContentMatch match(
            Text path, InputStream was, InputStream is, WriteTimes one, WriteTimes other, Origins origins)
            throws IOException {
        Window run = one.run();
        Window otherRun = other.run();
        if (path.toString().endsWith(GIT_INDEX) && run != null && otherRun != null) {
            return GitIndex.compare(was, run, is, otherRun, ids);
        }
        String source = CompiledPython.source(path.toString());
        Window written = source == null ? null : one.window(Text.of(source));
        Window writtenThere = source == null ? null : other.window(Text.of(source));
        if (written != null && writtenThere != null) {
            return CompiledPython.compare(was, written, is, writtenThere);
        }
        if (NpmCacheIndex.is(path.toString())) {
            return NpmCacheIndex.compare(was, is, origins);
        }
        if (NpmLog.is(path.toString())) {
            NpmLog.Compared log = NpmLog.compare(was, is, origins);
            movedEntries += log.moved();
            return log.match();
        }
        StandInInput certified = certified(is);
        ContentMatch match = ContentMatch.of(was, certified == null ? is : certified, origins);
        certificates += certified == null ? 0 : certified.replaced();
        return match;
    }

    /// With the recorded side's certificate where this side has its own; null if both have none, or the same.
    private @Nullable StandInInput certified(InputStream is) {
        String one = recorded.authority();
        String other = actual.authority();
        return one == null || other == null || one.equals(other)
                ? null
                : new StandInInput(
                        is, other.getBytes(StandardCharsets.US_ASCII), one.getBytes(StandardCharsets.US_ASCII));
    }

    private WriteTimes recordedTimes() throws IOException {
        WriteTimes known = recordedTimes == null ? WriteTimes.of(recorded.events()) : recordedTimes;
        recordedTimes = known;
        return known;
    }

    private WriteTimes actualTimes() throws IOException {
        WriteTimes known = actualTimes == null ? WriteTimes.of(actual.events()) : actualTimes;
        actualTimes = known;
        return known;
    }
}
