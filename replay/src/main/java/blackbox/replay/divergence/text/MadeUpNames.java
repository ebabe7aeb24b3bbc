package blackbox.replay.divergence.text;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

/// Which words of one side's names a program made up itself. What was done decides, not how a word looks:
/// such a word is in the last name of a path that was created exclusively, and had not occurred on this side
/// before. Where more is known ([KnownNames]), it must not occur on the other side either, and nothing that
/// stays may be named after it.
///
/// A name that was taken away may be made up again, as a program does that names its temporary files after an address
/// in its memory: when it draws the same one twice is its own affair. Where that is asked for ([KnownNames#again]),
/// each
/// time is another name ([#identity]), unless somebody named it in between: then it was given.
///
/// In the first reading each such word is a name of its own, since it is not known yet that `lock` in
/// `index.lock` occurs on both sides; later the words of a name are one. As long as it is not known what
/// names stand for, all of them count as the same ([#ANY]), and [NamesUsed] holds which they were.
///
/// Memory: [#LIVE_MAX] to twice as many names and words of names in use, [#TIMES_MAX] times, and a [WordSet]. Owned by
/// one thread.
public final class MadeUpNames {

    private static final int LIVE_MAX = 65_536;
    private static final int TIMES_MAX = 1 << 14;
    private static final int THEMSELVES = 1 << 13;

    /// Distinguished from words by its value alone, like [TextNormalizer#PROCESS_NUMBER].
    private static final long ANY = 4;

    private static final long KEPT = 41;
    private static final long GONE = 42;
    private static final long TIME = 43;
    private static final long AGAIN = 44;

    private static final long UNNAMED_SINCE = 0;
    private static final long NAMED_SINCE = 1;

    private final KeyedHash hash;
    private final KnownNames known;
    private final WordSet said = new WordSet();
    private final GenerationalCache words = new GenerationalCache(LIVE_MAX);

    /// Words met a moment ago that stand for themselves, each at the place that its last bits give: most
    /// words are among them, and this fits into the processor's cache, where `words` does not. 0 is none.
    private final long[] themselves = new long[THEMSELVES];

    private final GenerationalCache names = new GenerationalCache(LIVE_MAX);
    /// How often a name was made up again after it was taken away; absent for never.
    private final GenerationalCache again = new GenerationalCache(LIVE_MAX);
    /// How many things have that made-up name now, in different folders.
    private final GenerationalCache things = new GenerationalCache(LIVE_MAX);
    /// Identities of made-up names that were taken away, and whether they were named since.
    private final GenerationalCache takenAway = new GenerationalCache(LIVE_MAX);
    /// The identity of the name of which a word is a part.
    private final GenerationalCache owners = new GenerationalCache(LIVE_MAX);
    /// Marks of times that were taken for this side's own.
    private final Set<Long> ownTimes = new HashSet<>();
    private boolean anyToTell;
    private boolean anyAgain;
    private boolean anyTakenAway;
    /// The identity that the event takes away.
    private long leaving;
    private long created;
    private long[] open = new long[8];
    private int openCount;

    public MadeUpNames(KeyedHash hash, KnownNames known) {
        this.hash = hash;
        this.known = known;
    }

    /// Goes on to the next event, of which there may be several readings.
    void next() {
        leaving = 0;
    }

    /// Begins an event.
    void begin() {
        created = 0;
        openCount = 0;
    }

    /// The made-up names in the event, since [#begin].
    public NamesUsed used() {
        return created == 0 && openCount == 0 ? NamesUsed.NONE : new NamesUsed(created, open, openCount);
    }

    /// All words that have occurred on this side so far.
    public WordSet said() {
        return said;
    }

    /// Whether what the other side says may make a difference: something was created exclusively, or has a
    /// time in its name.
    public boolean isAnyToTell() {
        return anyToTell;
    }

    /// The made-up name of which the word is a part, or [GenerationalCache#ABSENT] where it stands for itself.
    long nameOf(long word) {
        int place = (int) word & THEMSELVES - 1;
        if (themselves[place] == word && word != 0) {
            return GenerationalCache.ABSENT; // and it was said
        }
        long name = words.get(word);
        if (name == GenerationalCache.ABSENT) {
            said.add(word);
            themselves[place] = word;
        } else if (anyTakenAway) {
            noteNamed(owners.get(word));
        }
        return name;
    }

    /// What a name counts as in hashes. Notes that it was used.
    long standIn(long name) {
        if (known.standIns() != null) {
            return name;
        }
        if (openCount == open.length) {
            open = Arrays.copyOf(open, 2 * openCount);
        }
        open[openCount++] = name;
        return ANY;
    }

    /// Notes that a process created a name exclusively, and returns whether its words may be made up: they may
    /// where the process keeps the thing to itself, and where it takes the name away again.
    boolean mayBeMadeUp(long name, long process, boolean keptToItself) {
        anyToTell = true;
        return keptToItself || known.isMarked(hash.mix(name, process, GONE));
    }

    /// Notes a time in the name of something that was created. Returns whether the other side has created
    /// nothing with that time in its name, as far as that is known.
    boolean isOfThisSide(long time) {
        anyToTell = true;
        long mark = hash.mix(time, TIME);
        said.add(mark);
        return !known.isOnOtherSide(mark);
    }

    /// Notes that such a time counts as this side's own.
    void takeForOwn(long time) {
        if (ownTimes.size() < TIMES_MAX) {
            ownTimes.add(hash.mix(time, TIME));
        }
    }

    /// Whether a time that was taken for one side's own is in names of both, so that it was given to them; or
    /// may be, because there are too many to tell.
    public boolean sharesTimes(MadeUpNames other) {
        return isAnyOwn(other.said) || other.isAnyOwn(said);
    }

    private boolean isAnyOwn(WordSet others) {
        return ownTimes.size() >= TIMES_MAX || ownTimes.stream().anyMatch(others::contains);
    }

    private void noteNamed(long owner) {
        if (owner != leaving && isFree(owner)) {
            takenAway.put(owner, NAMED_SINCE);
        }
    }

    /// Notes that a name was created exclusively. Returns what tells it from what had the same name before.
    long create(long name) {
        if (isFree(identity(name))) {
            anyAgain = true;
            if (known.again()) {
                again.put(name, 1 + Math.max(0, again.get(name)));
            }
        }
        things.put(name, 1 + Math.max(0, things.get(name)));
        return identity(name);
    }

    /// Whether a name was made up again.
    public boolean isAnyAgain() {
        return anyAgain;
    }

    /// What tells the thing that has or had a name last from those that had it before.
    public long identity(long name) {
        long times = again.get(name);
        return times == GenerationalCache.ABSENT ? name : hash.mix(name, times, AGAIN);
    }

    /// Whether a name was taken away, and nothing named it since.
    private boolean isFree(long identity) {
        return takenAway.get(identity) == UNNAMED_SINCE;
    }

    /// A word of a name that may be made up.
    ///
    /// @param identity of the name, see [#create]
    void consider(long word, long name, long identity) {
        long owner = owners.get(word);
        boolean again = owner != GenerationalCache.ABSENT && isFree(owner);
        anyAgain |= again;
        boolean own = known.again() && again || !said.contains(word);
        if (!own || known.isOnOtherSide(word) || known.isMarked(hash.mix(word, KEPT))) {
            return;
        }
        said.add(word);
        GenerationalCache standIns = known.standIns();
        long counts = standIns != null ? standIns.get(identity) : known.isNothing() ? word : identity;
        if (counts != GenerationalCache.ABSENT) {
            words.put(word, counts);
            owners.put(word, identity);
            themselves[(int) word & THEMSELVES - 1] = 0;
            names.put(name, 0);
            created = identity;
        } else if (owner != GenerationalCache.ABSENT) {
            words.put(word, word); // and not what it stood for before
        }
    }

    /// Whether a name was made up as a whole or in part.
    boolean isMadeUp(long name) {
        return names.get(name) != GenerationalCache.ABSENT;
    }

    /// Notes that a process removed or renamed what had that name.
    void gone(long name, long process) {
        said.add(hash.mix(name, process, GONE));
        if (isMadeUp(name)) {
            long left = Math.max(0, things.get(name) - 1);
            things.put(name, left);
            if (left == 0) {
                leaving = identity(name);
                takenAway.put(leaving, UNNAMED_SINCE);
                anyTakenAway = true;
            }
        }
    }

    /// Notes that the word is in a name under which something is to stay: it means something.
    void kept(long word) {
        said.add(hash.mix(word, KEPT));
    }
}
